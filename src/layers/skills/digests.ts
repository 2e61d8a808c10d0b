/** Makes digests of files, and keeps each one for as long as the provider says that the file is unchanged. */
import { createHash } from 'node:crypto';
import { chunksOf, closeBodies } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { SkillFault } from '../../core/skill-entry.ts';
import { ETAG_META_KEY, GIT_META_KEY } from '../../protocol/meta.ts';
import type { Resource } from '../../protocol/resources.ts';
import { MAX_SKILL_BYTES, type SkillResource } from '../../protocol/skills.ts';
import type { SharedDigests } from './shared-digests.ts';

/** How often a file is read at most, if it changes while it is read. */
const MAX_TRIES = 3;

/**
 * A digest is kept only if the file had been unchanged for this many milliseconds when it was read, since two writes within one
 * tick of the clock leave the same time. The first limit is for times with fractions of a second, the second for all others.
 */
const SETTLED_MS = 50;
const SETTLED_SECONDS_MS = 2_000;

/** A file that was read, with its digest. */
export interface Hashed extends SkillResource {
  /** The bytes, if they were requested. */
  readonly bytes: Uint8Array | undefined;
  /** Whether two reads in a row gave different bytes. This is checked only if the provider does not tell the file's state. */
  readonly dynamic: boolean;
}

interface Kept {
  readonly state: string;
  readonly hashed: Hashed;
}

/** Digests of one mount for one kind of reader. */
export interface Digests {
  /** @param keepBytes also gives the bytes @throws SkillFault for a file that cannot be served, and the errors of the read */
  of(resource: Resource, keepBytes: boolean, ctx: Context): Promise<Hashed>;
  /** Whether the digest of a file in this state is kept. */
  isKept(resource: Resource): boolean;
  /** Forgets all but these URIs. */
  retain(uris: ReadonlyMap<string, unknown>): void;
}

/** Returns the version that its provider gives a content; undefined if it gives none. */
function tagOf({ _meta }: Resource): string | undefined {
  const tag = _meta?.[ETAG_META_KEY] ?? (_meta?.[GIT_META_KEY] as { readonly hash?: unknown } | undefined)?.hash;
  return typeof tag === 'string' ? tag : undefined;
}

/** Returns the state of a file, by which a change shows; undefined if its provider does not tell enough. */
function stateOf(resource: Resource): string | undefined {
  const { size, annotations } = resource;
  const tag = tagOf(resource);
  if (tag !== undefined) return `tag ${tag}`;
  const at = annotations?.lastModified;
  return at === undefined || size === undefined ? undefined : `${size} ${at}`;
}

function isSettled({ annotations }: Resource, state: string, now: number): boolean {
  const at = annotations?.lastModified;
  if (state.startsWith('tag ') || at === undefined) return true;
  return now - Date.parse(at) >= (/:\d\d(?:\.0+)?Z$/.test(at) ? SETTLED_SECONDS_MS : SETTLED_MS);
}

/**
 * @param maxFileBytes the most that a client gets of a file in one read
 * @param shared shares digests with other processes
 */
export function createDigests(inner: ResourceProvider, maxFileBytes: number, shared?: SharedDigests): Digests {
  const kept = new Map<string, Kept>();

  async function read(uri: string, keepBytes: boolean, ctx: Context): Promise<Hashed> {
    const bodies = await inner.read(uri, { maxBytes: maxFileBytes, maxChildren: 0 }, ctx);
    try {
      const [body] = bodies;
      if (body === undefined || bodies.length > 1)
        throw new SkillFault(`A read of ${uri} does not give exactly one file`);
      const hash = createHash('sha256');
      const parts: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of chunksOf(body.content)) {
        ctx.signal.throwIfAborted();
        size += chunk.byteLength;
        if (size > maxFileBytes) throw tooLarge(uri, maxFileBytes);
        hash.update(chunk);
        if (keepBytes) parts.push(chunk);
      }
      const bytes = keepBytes ? Buffer.concat(parts, size) : undefined;
      return { uri, digest: `sha256:${hash.digest('hex')}`, size, bytes, dynamic: false };
    } finally {
      await closeBodies(bodies);
    }
  }

  async function hash(resource: Resource, keepBytes: boolean, ctx: Context): Promise<Hashed> {
    const { uri } = resource;
    let state = stateOf(resource);
    if (state === undefined) {
      const first = await read(uri, keepBytes, ctx);
      const second = await read(uri, false, ctx);
      return { ...first, dynamic: first.digest !== second.digest };
    }
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const begun = Date.now();
      const hashed = await read(uri, keepBytes, ctx);
      const after = await inner.metadata(uri, ctx);
      const now = stateOf(after);
      if (now === state) {
        if (isSettled(after, state, begun)) kept.set(uri, { state, hashed: { ...hashed, bytes: undefined } });
        const tag = tagOf(after);
        if (tag !== undefined) shared?.put(after, tag, hashed);
        return hashed;
      }
      if (now === undefined) break;
      state = now;
    }
    throw new SkillFault(`${uri} changes while it is read`);
  }

  /** The digest that another process, or an earlier one, has made of the same version. */
  async function findShared(resource: Resource): Promise<Hashed | undefined> {
    const tag = tagOf(resource);
    const digest = tag === undefined ? undefined : await shared?.get(resource, tag);
    const state = stateOf(resource);
    if (digest === undefined || state === undefined) return undefined;
    const hashed = { uri: resource.uri, ...digest, bytes: undefined, dynamic: false };
    kept.set(resource.uri, { state, hashed });
    return hashed;
  }

  const isKept = (resource: Resource): boolean => {
    const entry = kept.get(resource.uri);
    return entry !== undefined && entry.state === stateOf(resource);
  };

  return {
    isKept,
    async of(resource, keepBytes, ctx) {
      const { uri, size = 0 } = resource;
      if (size > maxFileBytes) throw tooLarge(uri, maxFileBytes);
      const entry = kept.get(uri);
      if (keepBytes) return hash(resource, keepBytes, ctx);
      if (entry !== undefined && isKept(resource)) return entry.hashed;
      return (await findShared(resource)) ?? hash(resource, keepBytes, ctx);
    },
    retain(uris) {
      for (const uri of kept.keys()) if (!uris.has(uri)) kept.delete(uri);
    },
  };
}

const tooLarge = (uri: string, limit: number): SkillFault =>
  new SkillFault(
    limit < MAX_SKILL_BYTES
      ? `${uri} is larger than the ${limit} bytes that a read gives (limits.maxReadBytes)`
      : `${uri} is larger than the ${limit} bytes that a skill may have`,
  );
