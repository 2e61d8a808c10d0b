/** Keeps the definitions of an upstream's tools, from the lists that clients request or from a scan of the list. */

import { type Context, withSignal } from '../../core/context.ts';
import { createLru } from '../../core/lru.ts';
import type { ToolPage } from '../../core/mounts/mounted-server.ts';
import type { Page } from '../../core/provider.ts';
import { type HeaderParameter, headerParametersOf } from '../../core/schema/header-parameters.ts';
import { inTime, LATE } from '../../core/waiting/in-time.ts';
import { createSharedWork } from '../../core/waiting/shared-work.ts';
import type { ToolDescription } from '../../protocol/content.ts';

/** The most tools that a scan reads and whose definitions are kept. */
export const MAX_TOOLS = 10_000;

/** How long a call or its result waits for the tool's definition, in milliseconds: a server may be slow to list its tools. */
const PATIENCE_MS = 2_000;

export interface ToolFacts {
  /** Arguments that are repeated in headers. */
  readonly headers: readonly HeaderParameter[];
  readonly outputSchema: ToolDescription['outputSchema'];
  /** Whether the tool must be called as a task. */
  readonly onlyAsTask: boolean;
}

export interface Definitions {
  /**
   * Keeps the definitions in a page of a list.
   * @param asked the value of `forgotten` when the page was requested: one from before a change is not kept
   */
  learn(tools: readonly ToolDescription[], asked: number): void;
  /** Returns the facts of one tool; undefined for an unlisted one. All callers share one scan, which ends when none waits. */
  of(tool: string, ctx: Context): Promise<ToolFacts | undefined>;
  /** The same, but returns undefined too where the answer takes too long. */
  soon(tool: string, ctx: Context): Promise<ToolFacts | undefined>;
  /** How many times definitions were dropped because of a change. */
  readonly forgotten: number;
  /** Drops the definitions, because the tools may have changed. */
  forget(): void;
}

/** @param name the name of the mount */
export function createDefinitions(list: (page: Page, ctx: Context) => Promise<ToolPage>, name: string): Definitions {
  const known = createLru<string, ToolFacts>(MAX_TOOLS);
  /** Scans, by the number of changes before them: a caller that comes after a change does not join an older one. */
  const scans = createSharedWork<number>();
  let forgotten = 0;
  /** The value of `forgotten` during the latest scan that ended without a change. */
  let scanned: number | undefined;

  /** Scans the list, up to `MAX_TOOLS`; `list` passes each page to `learn`. */
  async function scan(ctx: Context): Promise<ReadonlyMap<string, ToolDescription>> {
    const begun = forgotten;
    /** Answers the callers of this scan, even if a change means that it is not kept for later ones. */
    const found = new Map<string, ToolDescription>();
    let cursor: string | undefined;
    let seen = 0;
    do {
      const page = await list({ cursor, limit: 1_000 }, ctx);
      for (const tool of page.tools) found.set(tool.name, tool);
      seen += Math.max(1, page.tools.length);
      cursor = page.nextCursor;
    } while (cursor !== undefined && seen < MAX_TOOLS);
    if (begun === forgotten) scanned = begun;
    return found;
  }

  async function of(tool: string, ctx: Context): Promise<ToolFacts | undefined> {
    const kept = known.get(tool);
    if (kept !== undefined || scanned === forgotten) return kept;
    const work = (signal: AbortSignal) => scan(withSignal({ ...ctx, notes: undefined }, signal));
    const found = (await scans.run(forgotten, ctx.signal, work)).get(tool);
    return known.get(tool) ?? (found && factsOf(found));
  }

  return {
    learn(tools, asked) {
      if (asked !== forgotten) return;
      for (const tool of tools) known.set(tool.name, factsOf(tool));
    },
    of,
    async soon(tool, ctx) {
      const ofTool = (context: Context): Promise<ToolFacts | undefined> =>
        of(tool, context).catch((error: unknown) => {
          ctx.log.debug('the definition of a tool is not known', { mount: name, tool, error });
          return undefined;
        });
      const came = await inTime(ofTool(ctx), PATIENCE_MS);
      if (came !== LATE) return came;
      // The scan goes on for the next call, even if this one ends before.
      void ofTool(withSignal(ctx, new AbortController().signal));
      return undefined;
    },
    get forgotten() {
      return forgotten;
    },
    forget() {
      known.clear();
      forgotten++;
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

/** A tool that declares headers wrongly counts as declaring none: clients refuse it, or call it without headers. */
function headersOf({ inputSchema }: ToolDescription): readonly HeaderParameter[] {
  try {
    return headerParametersOf(inputSchema);
  } catch {
    return [];
  }
}
