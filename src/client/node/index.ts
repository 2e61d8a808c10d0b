/** `vitrine/client/node`: the client, with functions that need Node.js: start programs, and keep answers on disk. */
import { createResourceClient, type ResourceClient, type ResourceClientOptions } from '../client.ts';
import type { HttpTarget } from '../http.ts';
import { connected, parseCommandLine, type StdioTarget, stdioConnect } from './stdio.ts';

export { type DiskStoreOptions, diskStore } from './disk-store.ts';
export {
  type GetEntry,
  type GetOptions,
  type GetProgress,
  type GetReport,
  type GetStatus,
  getResources,
} from './get/index.ts';
export { parseCommandLine, type StdioTarget, stdioConnect } from './stdio.ts';
export { type WriteSkillOptions, type WrittenSkill, type WrittenSkillFile, writeSkill } from './write-skill.ts';

/** A server: a URL or a program, as an object, or as a text such as `https://...` or a command line. */
export type ServerTarget = string | URL | HttpTarget | StdioTarget;

/**
 * Connects to a server, or starts it, and returns a client for its resources.
 *
 * @example
 * await using resources = await connectResourceClient('npx -y some-mcp-server');
 * const { primary } = await resources.read('file:///readme.md');
 * @throws ResourceClientError `unavailable`, `denied`, `timeout`, or `invalid` for a malformed command line
 */
export async function connectResourceClient(
  target: ServerTarget,
  options: ResourceClientOptions & { readonly signal?: AbortSignal | undefined } = {},
): Promise<ResourceClient> {
  const { signal, ...rest } = options;
  const full = targetOf(target);
  return connected(
    'url' in full ? createResourceClient(full, rest) : createResourceClient(stdioConnect(full), rest),
    signal,
  );
}

function targetOf(target: ServerTarget): HttpTarget | StdioTarget {
  if (target instanceof URL) return { url: target };
  if (typeof target !== 'string') return target;
  return /^https?:\/\//i.test(target) ? { url: target } : parseCommandLine(target);
}
