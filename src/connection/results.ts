/** Reads results of any server: the next cursor, the freshness, and the declared extensions. */
import type { StandardSchemaV1 } from '@modelcontextprotocol/client';
import { isData } from '../protocol/data.ts';
import { DIRECTORY_EXTENSION, RESOURCE_HIERARCHY_EXTENSION, SEP_2093_EXTENSION } from '../protocol/meta.ts';
import type { CacheHint } from '../protocol/resources.ts';
import { SKILLS_EXTENSION } from '../protocol/skills.ts';
import type { Data } from './data.ts';

/** Accepts any result: the SDK's own schemas drop unknown fields. */
export const anyResult: StandardSchemaV1<unknown, Data> = {
  '~standard': {
    version: 1,
    vendor: 'vitrine',
    validate: (value: unknown) => (isData(value) ? { value } : { issues: [{ message: 'no object' }] }),
  },
};

/** Returns the cursor of the next page. Some servers send an empty cursor on the last page. */
export function cursorIn({ nextCursor }: Data): string | undefined {
  return typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : undefined;
}

/** Returns the entries of a result; undefined where the result has no such list. */
export function entriesIn(result: Data, field: string): readonly unknown[] | undefined {
  const entries: unknown = result[field];
  return Array.isArray(entries) ? entries : undefined;
}

/** Returns how long a result may be cached. Undefined where it does not say, as in the 2025 era. */
export function freshnessIn({ ttlMs, cacheScope }: Data): CacheHint | undefined {
  if (typeof ttlMs !== 'number' || !(ttlMs >= 0)) return undefined;
  return { ttlMs, cacheScope: cacheScope === 'public' ? 'public' : 'private' };
}

/** The longest that a result is cached, in milliseconds, whatever the server says. */
const MAX_TTL_MS = 24 * 60 * 60 * 1000;

/** Returns the time until which a result is cached, in milliseconds as `now`. */
export const keptUntil = ({ ttlMs }: CacheHint, now: number): number => now + Math.min(ttlMs, MAX_TTL_MS);

/** The extensions about resources that a server declares. */
export interface ResourceExtensions {
  /** SEP-2093: `resources/metadata`, lists by URI, and capabilities of each resource. */
  readonly metadata: boolean;
  /** Windows of contents (`vitrine/range`). */
  readonly ranges: boolean;
  /** `resources/directory/read`: declaring skills alone does not include it (SEP-2640, `directoryRead`). */
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
