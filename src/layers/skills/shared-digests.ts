/**
 * Shares digests of files between processes, if the provider gives every content a version that no other content has. Digests
 * are kept for each reader, since a provider may show another reader another content under the same version.
 */
import type { Mount } from '../../core/mounts/mount.ts';
import type { AnswerKey, SharedAnswers } from '../../core/shared-answers/shared-answers.ts';
import { isWeakVersion } from '../../protocol/content-version.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { SkillResource } from '../../protocol/skills.ts';

/** A file of this machine with fewer bytes is read faster than its digest is fetched. */
const MIN_LOCAL_BYTES = 256 * 1024;

/** The most bytes of a kept digest. */
const MAX_BYTES = 256;

export type FileDigest = Pick<SkillResource, 'digest' | 'size'>;

export interface SharedDigests {
  /** Gets a digest; undefined if no process has kept it, or if it may not be shared. */
  get(resource: Resource, version: string): Promise<FileDigest | undefined>;
  put(resource: Resource, version: string, digest: FileDigest): void;
}

/**
 * Undefined for a mount whose versions cannot be trusted: a mounted server may send any version, and some mounts show each
 * connection another content.
 * @param reader the id of the principal who reads
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
