/** Reads all definitions of an upstream's tools or prompts, unchanged, for code that needs the complete list. */

import { pagesIn } from '../../connection/paging.ts';
import { breaks } from '../../core/breaks.ts';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { type Data, isData } from '../../protocol/data.ts';
import type { Asking } from './asking.ts';
import type { Border } from './border/index.ts';
import { MAX_TOOLS } from './definitions.ts';
import type { Facts } from './facts.ts';
import type { PinKind } from './pins/index.ts';

/** The most pages of a list. */
const MAX_PAGES = 1_000;

interface Source {
  readonly asking: Asking;
  readonly border: Border;
  readonly facts: () => Facts;
  /** The name of the mount. */
  readonly name: string;
}

/**
 * Returns the valid definitions; clients never see the others.
 * @throws ResourceError `internal` for an endless or invalid list
 */
export async function wholeList(
  { asking, border, facts, name }: Source,
  kind: PinKind,
  ctx: Context,
): Promise<readonly Data[]> {
  // The server's features are known only once it is connected.
  await asking.link(ctx);
  if (!facts()[kind]) return [];
  const refusal = (): ResourceError =>
    new ResourceError('internal', `The server behind "${name}" gave a list that is not valid or does not end`);
  const pages = pagesIn({
    ask: (params) => asking.ask(`${kind}/list`, JSON.stringify(params.cursor ?? null), params, ctx),
    field: kind,
    entryIn: (entry) => (isData(entry) ? entry : undefined),
    idOf: (entry) => String(entry.name),
    maxPages: MAX_PAGES,
    refusal,
  });
  const found: Data[] = [];
  const taken = breaks();
  for await (const { entries, stopped } of pages) {
    for (const entry of entries) {
      const turn = taken();
      if (turn !== undefined) await turn;
      if ('entry' in border.look(kind === 'tools' ? 'tool' : 'prompt', entry)) found.push(entry);
    }
    if (stopped === 'end') return found;
    if (found.length >= MAX_TOOLS) break;
  }
  throw refusal();
}
