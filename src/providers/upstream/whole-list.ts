/** All definitions of an upstream's tools or prompts, each as it came: for who has to know them all. */

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

/** Pages that they may come in. */
const MAX_PAGES = 1_000;

interface Source {
  readonly asking: Asking;
  readonly border: Border;
  readonly facts: () => Facts;
  /** The mount's name. */
  readonly name: string;
}

/**
 * Those that are valid; the others are listed to nobody.
 * @throws ResourceError `internal` for a list that has no end, or is none
 */
export async function wholeList(
  { asking, border, facts, name }: Source,
  kind: PinKind,
  ctx: Context,
): Promise<readonly Data[]> {
  // The features of the server are known once it was reached.
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
