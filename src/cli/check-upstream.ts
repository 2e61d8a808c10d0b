/** Tells `vitrine check` whether a mounted server answers, and what it has. */
import type { ConfiguredMount } from '../config/upstream-mounts.ts';
import { tellingLine } from '../connection/node/stderr-tail.ts';
import { SAYS, seenIn } from '../connection/seen.ts';
import { createContext, type Log, SILENT } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import { scrub } from '../core/text/scrub.ts';
import type { UpstreamHealth } from '../providers/upstream/index.ts';

/** Whether a server was reached, and its description or the reason. */
export interface UpstreamReport {
  readonly reached: boolean;
  readonly text: string;
}

/** The most pages of a list that are counted. If a list has more pages, the report adds "or more" to the count. */
const MAX_PAGES = 100;
const PAGE = 1_000;

type Page = { readonly count: number; readonly nextCursor?: string | undefined };

/** Connects to the server and counts its tools, resources, templates and prompts. Never rejects: the report names a failure. */
export async function checkUpstream({
  provider,
  server,
  upstream,
}: Required<Pick<ConfiguredMount, 'provider' | 'server' | 'upstream'>>): Promise<UpstreamReport> {
  if (upstream === undefined || server === undefined) return { reached: false, text: 'It is no server' };
  const { up } = upstream;
  try {
    if (!(await up.ready())) return { reached: false, text: up.health().lastError ?? 'It did not answer in time' };
    const ctx = createContext();
    const { tools, prompts } = server.features;
    const counts = await Promise.all([
      tools &&
        counted('tool', async (cursor) => {
          const page = await server.listTools({ cursor, limit: PAGE }, ctx);
          return { count: page.tools.length, nextCursor: page.nextCursor };
        }),
      counted('resource', async (cursor) => {
        const page = await provider.list(undefined, { cursor, limit: PAGE }, ctx);
        return { count: page.resources.length, nextCursor: page.nextCursor };
      }),
      counted('template', async (cursor) => {
        const page = await provider.listTemplates?.({ cursor, limit: PAGE }, ctx);
        return { count: page?.resourceTemplates.length ?? 0, nextCursor: page?.nextCursor };
      }),
      prompts &&
        counted('prompt', async (cursor) => {
          const page = await server.listPrompts({ cursor, limit: PAGE }, ctx);
          return { count: page.prompts.length, nextCursor: page.nextCursor };
        }),
    ]);
    return { reached: true, text: `${serverOf(up.health())}  ${counts.filter(Boolean).join(', ')}` };
  } catch (error) {
    return {
      reached: false,
      text: error instanceof ResourceError ? error.message : 'It did not answer as a server does',
    };
  }
}

/** Names the server, its version and the era of its protocol. */
function serverOf({ server, version, era }: UpstreamHealth): string {
  const name = [server, version].filter((part) => part !== undefined).join(' ');
  return `${scrub(name) || 'a server without a name'}, ${era === '2025' ? '2025 era' : '2026 era'}`;
}

async function counted(what: string, list: (cursor: string | undefined) => Promise<Page>): Promise<string> {
  let count = 0;
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await list(cursor);
    count += page.count;
    cursor = page.nextCursor;
    if (cursor === undefined) return `${count} ${what}${count === 1 ? '' : 's'}`;
  }
  return `${count} ${what}s or more`;
}

/** The failures of mounted servers. */
export interface Faults {
  /** The log of the mounted servers. It remembers their failures instead of writing them. */
  readonly log: Log;
  /** Tells the operator why a server is not reached: the innermost cause, and the last line of a program's error output. */
  of(mount: string): string | undefined;
}

/** Remembers why servers are not reached. Clients learn only that a server is not reached; its operator needs the reason. */
export function rememberFaults(): Faults {
  const causes = new Map<unknown, string>();
  const lines = new Map<unknown, string>();
  return {
    log: {
      ...SILENT,
      debug: (_message, { mount, line } = {}) => {
        if (typeof line === 'string') lines.set(mount, tellingLine(line) ?? '');
      },
      warn: (_message, { mount, error } = {}) => {
        if (error instanceof Error) causes.set(mount, seenIn(error) ?? innermost(error));
      },
    },
    of(mount) {
      const cause = causes.get(mount);
      // The message of a failed connection may quote the line already.
      const line = cause !== undefined && SAYS.test(cause) ? undefined : lines.get(mount);
      const parts = [cause, line].filter((part) => part !== undefined);
      return parts.length === 0 ? undefined : scrub(parts.join('; it said: ').replaceAll('\n', ' '));
    },
  };
}

function innermost(error: Error): string {
  let inner = error;
  while (inner.cause instanceof Error) inner = inner.cause;
  return inner.message;
}
