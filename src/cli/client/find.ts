/** `vitrine find`: finds the best places for a question with the index of a Vitrine. */
import { setTimeout as delay } from 'node:timers/promises';
import { isUnsupported } from '../../client/errors.ts';
import { type FoundPlace, searchResources } from '../../client/searching.ts';
import type { Secrets } from '../../config/secrets.ts';
import { UsageError } from '../errors.ts';
import { EXIT_FAILED, EXIT_OK, EXIT_UNSUPPORTED } from './exit-codes.ts';
import type { GrepFlags } from './grep/grep.ts';
import { countOf } from './printing/numbers.ts';
import { safe } from './printing/output.ts';
import { onServer, type ServerFlags, type Session } from './reaching/connect.ts';
import { urisOf } from './references.ts';

export interface FindFlags extends ServerFlags {
  /** A URI, the name of a resource at the top, or a path below the only root. */
  readonly in?: string;
  readonly include?: string;
  readonly maxMatches?: string;
}

const DEFAULT_MAX_MATCHES = 10;

/** Milliseconds between two checks of an index that is being built. */
const BUILDING_MS = 300;

export async function find(
  server: string,
  words: readonly string[],
  flags: FindFlags,
  secrets: Secrets,
): Promise<void> {
  const most = countOf(flags.maxMatches, '--max-matches', DEFAULT_MAX_MATCHES);
  await onServer(server, flags, secrets, async (session) => {
    const { output } = session;
    try {
      const [uri] = flags.in === undefined ? [] : await urisOf([flags.in], session);
      const places = await ask(words.join(' '), { uri, glob: flags.include }, most, session);
      await output.list(each(places), (place) => line(place as Printed, session));
      return places.length === 0 ? EXIT_FAILED : EXIT_OK;
    } catch (error) {
      if (!isUnsupported(error)) throw error;
      output.note('the server has no index; a Vitrine has one with index: on');
      return EXIT_UNSUPPORTED;
    }
  });
}

/** `vitrine grep --ranked`. @throws UsageError for flags that apply only to a search of lines, and for several URIs */
export async function findInstead(
  server: string,
  pattern: string,
  [uri, ...others]: readonly string[],
  flags: GrepFlags,
  secrets: Secrets,
): Promise<void> {
  if (others.length > 0) throw new UsageError('--ranked accepts one URI');
  const lines = ['ignoreCase', 'fixedStrings', 'filesWithMatches', 'read'] as const;
  const wrong = lines.find((flag) => flags[flag] === true);
  if (wrong !== undefined) throw new UsageError('--ranked cannot be combined with -i, -F, -l or --read');
  await find(server, [pattern], { ...flags, ...(uri !== undefined && { in: uri }) }, secrets);
}

type Printed = Pick<FoundPlace, 'uri' | 'heading' | 'page' | 'text'>;

/** Yields each place; its `uri` is that of the lines that were found. */
async function* each(places: readonly FoundPlace[]): AsyncGenerator<Printed> {
  for (const { place: uri, heading, page, text } of places)
    yield { uri, ...(heading !== undefined && { heading }), ...(page !== undefined && { page }), text };
}

/** Repeats the search while the index is being built: a server that was just started has no index yet. */
async function ask(
  words: string,
  only: { readonly uri?: string | undefined; readonly glob?: string | undefined },
  most: number,
  { resources, signal, timeoutMs, output }: Session,
): Promise<readonly FoundPlace[]> {
  for (;;) {
    const search = searchResources(resources, words, { ...only, mode: 'ranked', signal, timeoutMs });
    const places: FoundPlace[] = [];
    for await (const place of search) {
      if (places.push(place) >= most || search.report.building) break;
    }
    if (!search.report.building) return places;
    output.progress('the index is being built');
    await delay(BUILDING_MS, undefined, { signal });
  }
}

function line({ uri, heading, page, text }: Printed, { output }: Session): string {
  const where = output.paint('magenta', safe(uri));
  const under = [heading, page === undefined ? undefined : `page ${page}`].filter((part) => part !== undefined);
  const head = under.length === 0 ? where : `${where}  ${safe(under.join(', '))}`;
  const shown = text.split('\n').map((each) => `  ${safe(each)}`.trimEnd());
  return [head, ...shown].join('\n');
}
