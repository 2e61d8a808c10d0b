/** Reports on standard error which parts of a list or a tree were left out, and returns the exit status for that. */
import type { ListReport } from '../../client/paging.ts';
import type { WalkReport, WalkStop } from '../../client/walk.ts';
import { EXIT_INCOMPLETE, EXIT_OK } from './exit-codes.ts';
import { messageOf } from './failures.ts';
import type { Output } from './printing/output.ts';

/** Describes each reason for which a list stops. */
export const WORDS: Readonly<Record<WalkStop['reason'], string>> = {
  'max-depth': 'deeper than --max-depth',
  'max-resources': 'stopped at --max-resources',
  visited: 'reached before by another way',
  'repeated-cursor': 'the server repeats a cursor',
  'no-progress': 'the server sends page after page with nothing new',
  'max-pages': 'more pages than the limit',
  truncated: 'cut short by the server',
  failed: 'could not be listed',
};

/** The most failures that are reported one by one. */
const MAX_REPORTED = 10;

/** @param wanted the limits that the user set: reaching one of them is no failure */
export function tellWalk({ stops, stopped }: WalkReport, output: Output, wanted: ReadonlySet<string>): number {
  for (const [reason, count] of Object.entries(stopped) as [WalkStop['reason'], number][]) {
    const some = stops.filter((stop) => stop.reason === reason).slice(0, MAX_REPORTED);
    if (reason === 'failed') {
      for (const { uri = 'the list', error } of some) output.note(`${uri}: ${messageOf(error)}`);
      if (count > some.length) output.note(`${count - some.length} more could not be listed`);
      continue;
    }
    if (reason === 'max-depth' && wanted.has('max-depth')) continue;
    const where = some[0]?.uri === undefined ? '' : `, as ${some[0].uri}`;
    output.note(`${WORDS[reason]}${reason === 'max-resources' ? '' : `: ${count}${where}`}`);
  }
  const incomplete = Object.keys(stopped).some((reason) => reason !== 'visited' && !wanted.has(reason));
  return incomplete ? EXIT_INCOMPLETE : EXIT_OK;
}

/** Does the same for one list. @param wanted the limits that the user set: reaching one of them is no failure */
export function tellList(
  { stopped, truncatedBy, missing, dropped, via }: ListReport,
  output: Output,
  wanted: ReadonlySet<string>,
): number {
  if (via === 'flat-list') output.note('the server has no lists by URI: its whole list was read');
  if (stopped !== undefined && stopped !== 'end') output.note(WORDS[stopped]);
  if (truncatedBy !== undefined) output.note(`cut short by the server: ${truncatedBy}`);
  if (missing.length > 0) output.note(`missing: ${JSON.stringify(missing).slice(0, 500)}`);
  if (dropped > 0) output.note(`${dropped} entries are no resources`);
  const cut = stopped !== undefined && stopped !== 'end' && !wanted.has(stopped);
  return cut || truncatedBy !== undefined || missing.length > 0 ? EXIT_INCOMPLETE : EXIT_OK;
}
