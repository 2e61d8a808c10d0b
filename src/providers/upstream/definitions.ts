/** Keeps the definitions of an upstream's tools: from the lists that clients ask for, or from a scan of the list. */

import { type Context, withSignal } from '../../core/context.ts';
import { createLru } from '../../core/lru.ts';
import type { ToolPage } from '../../core/mounts/mounted-server.ts';
import type { Page } from '../../core/provider.ts';
import { type HeaderParameter, headerParametersOf } from '../../core/schema/header-parameters.ts';
import { inTime, LATE } from '../../core/waiting/in-time.ts';
import type { ToolDescription } from '../../protocol/content.ts';

/** Tools that are gone through, and whose definitions are kept. */
export const MAX_TOOLS = 10_000;

/** How long a result waits until it is known what its tool promises, in milliseconds: a server may be slow to say. */
const PATIENCE_MS = 2_000;

export interface ToolFacts {
  /** Arguments that it wants in headers. */
  readonly headers: readonly HeaderParameter[];
  readonly outputSchema: ToolDescription['outputSchema'];
  /** It is called as a task, or not at all. */
  readonly onlyAsTask: boolean;
}

export interface Definitions {
  /** Keeps what a list says. */
  learn(tools: readonly ToolDescription[]): void;
  /** Of one tool; undefined for one that is not listed. */
  of(tool: string, ctx: Context): Promise<ToolFacts | undefined>;
  /** The same, undefined too where it is not to be had soon. */
  soon(tool: string, ctx: Context): Promise<ToolFacts | undefined>;
  /** The tools may have changed. */
  forget(): void;
}

/** @param name of the mount */
export function createDefinitions(list: (page: Page, ctx: Context) => Promise<ToolPage>, name: string): Definitions {
  const known = createLru<string, ToolFacts>(MAX_TOOLS);
  /** Gone through once for all who ask, until the tools change. */
  let scanning: Promise<void> | undefined;

  /** Goes through the list, up to `MAX_TOOLS`; `list` passes each page to `learn`. */
  async function scan(ctx: Context): Promise<void> {
    let cursor: string | undefined;
    let seen = 0;
    do {
      const page = await list({ cursor, limit: 1_000 }, ctx);
      seen += Math.max(1, page.tools.length);
      cursor = page.nextCursor;
    } while (cursor !== undefined && seen < MAX_TOOLS);
  }

  async function of(tool: string, ctx: Context): Promise<ToolFacts | undefined> {
    const found = known.get(tool);
    if (found !== undefined) return found;
    // For all who ask meanwhile: who asked first may go away.
    scanning ??= scan(withSignal({ ...ctx, notes: undefined }, new AbortController().signal));
    const going = scanning;
    await going.catch((error: unknown) => {
      if (scanning === going) scanning = undefined;
      throw error;
    });
    return known.get(tool);
  }

  return {
    learn(tools) {
      for (const tool of tools) known.set(tool.name, factsOf(tool));
    },
    of,
    async soon(tool, ctx) {
      const found = of(tool, ctx).catch((error: unknown) => {
        ctx.log.debug('what a tool promises is not known', { mount: name, tool, error });
        return undefined;
      });
      const came = await inTime(found, PATIENCE_MS);
      return came === LATE ? undefined : came;
    },
    forget() {
      known.clear();
      scanning = undefined;
    },
  };
}

function factsOf(tool: ToolDescription): ToolFacts {
  const { execution } = tool as { readonly execution?: { readonly taskSupport?: unknown } };
  return {
    headers: headersOf(tool),
    outputSchema: tool.outputSchema,
    onlyAsTask: execution?.taskSupport === 'required',
  };
}

/** A tool that declares them wrongly declares none: clients refuse it, or call it without. */
function headersOf({ inputSchema }: ToolDescription): readonly HeaderParameter[] {
  try {
    return headerParametersOf(inputSchema);
  } catch {
    return [];
  }
}
