/**
 * Digests of files that processes share: of those whose provider gives each content a version that no other one has. They are
 * those of one reader, since nobody knows what a provider shows to another one under the same version.
 */
import type { Mount } from '../../core/mounts/mount.ts';
import type { AnswerKey, SharedAnswers } from '../../core/shared-answers/shared-answers.ts';
import { isWeakVersion } from '../../protocol/content-version.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { SkillResource } from '../../protocol/skills.ts';

/** A file of fewer bytes is read sooner than others are asked, where it lies on this machine. */
const MIN_LOCAL_BYTES = 256 * 1024;

/** Bytes of an answer. */
const MAX_BYTES = 256;

export type FileDigest = Pick<SkillResource, 'digest' | 'size'>;

export interface SharedDigests {
  /** Undefined where nobody has kept it, or it may not be shared. */
  get(resource: Resource, version: string): Promise<FileDigest | undefined>;
  put(resource: Resource, version: string, digest: FileDigest): void;
}

/**
 * Undefined for a mount whose versions may not be trusted: a mounted server may say anything of what it serves, and some show each
 * connection something else.
 * @param reader whose they are
 */
export function sharedDigests(answers: SharedAnswers, mount: Mount, reader: string): SharedDigests | undefined {
  const { features } = mount.provider;
  if (mount.server !== undefined || features.apart === true || features.roots === true) return undefined;
  const least = features.remote === true ? 0 : MIN_LOCAL_BYTES;

  function keyOf({ uri, size }: Resource, version: string): AnswerKey | undefined {
    if (size === undefined || size < least || isWeakVersion(version)) return undefined;
    return ['digest', mount.name, reader, uri, version, String(size)];
  }

  return {
    async get(resource, version) {
      const key = keyOf(resource, version);
      const answer = key && (await answers.get(key, MAX_BYTES));
      return answer && digestIn(Buffer.from(answer).toString(), resource.size);
    },
    put(resource, version, { digest, size }) {
      const key = keyOf(resource, version);
      if (key !== undefined && size === resource.size) answers.put(key, Buffer.from(digest));
    },
  };
}

function digestIn(text: string, size: number | undefined): FileDigest | undefined {
  return size !== undefined && /^sha256:[0-9a-f]{64}$/.test(text) ? { digest: text, size } : undefined;
}
