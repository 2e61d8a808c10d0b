/** Of the results of every server: where a list goes on, how long an answer may be kept, what is declared. */
import type { StandardSchemaV1 } from '@modelcontextprotocol/client';
import { isData } from '../protocol/data.ts';
import { DIRECTORY_EXTENSION, RESOURCE_HIERARCHY_EXTENSION, SEP_2093_EXTENSION } from '../protocol/meta.ts';
import type { CacheHint } from '../protocol/resources.ts';
import { SKILLS_EXTENSION } from '../protocol/skills.ts';
import type { Data } from './data.ts';

/** Takes any result: the SDK's own schemas drop the fields that they do not know. */
export const anyResult: StandardSchemaV1<unknown, Data> = {
  '~standard': {
    version: 1,
    vendor: 'vitrine',
    validate: (value: unknown) =>
      typeof value === 'object' && value !== null ? { value: value as Data } : { issues: [{ message: 'no object' }] },
  },
};

/** The cursor at which a list goes on. Some servers end theirs with an empty cursor. */
export function cursorIn({ nextCursor }: Data): string | undefined {
  return typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : undefined;
}

/** Entries of a result; undefined where the result has no such list. */
export function entriesIn(result: Data, field: string): readonly unknown[] | undefined {
  const entries: unknown = result[field];
  return Array.isArray(entries) ? entries : undefined;
}

/** Of a result: how long it may be kept. Undefined where it does not say, as those of the 2025 era. */
export function freshnessIn({ ttlMs, cacheScope }: Data): CacheHint | undefined {
  if (typeof ttlMs !== 'number' || !(ttlMs >= 0)) return undefined;
  return { ttlMs, cacheScope: cacheScope === 'public' ? 'public' : 'private' };
}

/** The longest that an answer is kept, in milliseconds, whatever the server says. */
const MAX_TTL_MS = 24 * 60 * 60 * 1000;

export const keptUntil = ({ ttlMs }: CacheHint, now: number): number => now + Math.min(ttlMs, MAX_TTL_MS);

/** Which extensions about resources a server declares. */
export interface ResourceExtensions {
  /** SEP-2093: `resources/metadata`, lists by URI, and capabilities of each resource. */
  readonly metadata: boolean;
  /** Windows of contents (`vitrine/range`). */
  readonly ranges: boolean;
  /** `resources/directory/read`: declaring skills alone does not say so (SEP-2640, `directoryRead`). */
  readonly directories: boolean;
  /** `skills/list` and `skills/get` (SEP-2640): only such servers are asked for skills. */
  readonly skills: boolean;
}

/** Reads the extensions about resources out of a server's capabilities. */
export function resourceExtensionsIn(capabilities: Data): ResourceExtensions {
  const extensions = (capabilities.extensions ?? {}) as Data;
  const skills = extensions[SKILLS_EXTENSION];
  const ranges = extensions[SEP_2093_EXTENSION] !== undefined;
  return {
    metadata: ranges || extensions[RESOURCE_HIERARCHY_EXTENSION] !== undefined,
    ranges,
    directories: extensions[DIRECTORY_EXTENSION] !== undefined || (isData(skills) && skills.directoryRead === true),
    skills: isData(skills),
  };
}
