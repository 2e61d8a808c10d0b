/** `vitrine find`: the best places for a question, by the index of a Vitrine. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Data } from '../../client/link.ts';
import type { Secrets } from '../../config/secrets.ts';
import { UsageError } from '../errors.ts';
import { onServer, type ServerFlags, type Session } from './connect.ts';
import { request } from './definitions.ts';
import { EXIT_FAILED, EXIT_OK, EXIT_UNSUPPORTED } from './exit-codes.ts';
import { failureOf, searchToolOf } from './grep-tool.ts';
import { countOf } from './numbers.ts';
import { safe } from './output.ts';

export interface FindFlags extends ServerFlags {
  readonly include?: string;
  readonly maxMatches?: string;
}

const DEFAULT_MAX_MATCHES = 10;

/** A page of the tool has no more. */
const MOST_MATCHES = 10;

/** Milliseconds between two looks at an index that is being made. */
const BUILDING_MS = 300;

interface Place {
  /** With its lines. */
  readonly uri: string;
  readonly heading?: string | undefined;
  readonly page?: number | undefined;
  readonly text: string;
}

export async function find(
  server: string,
  words: readonly string[],
  flags: FindFlags,
  secrets: Secrets,
): Promise<void> {
  const most = countOf(flags.maxMatches, '--max-matches', DEFAULT_MAX_MATCHES);
  if (most > MOST_MATCHES) throw new UsageError(`--max-matches is at most ${MOST_MATCHES}`);
  await onServer(server, flags, secrets, async (session) => {
    const { output } = session;
    const tool = await searchToolOf(session);
    const { properties } = (tool?.inputSchema ?? {}) as { readonly properties?: object };
    if (tool === undefined || properties === undefined || !('mode' in properties)) {
      output.note('the server has no index; a Vitrine has one with index: on');
      return EXIT_UNSUPPORTED;
    }
    const question = {
      pattern: words.join(' '),
      mode: 'ranked',
      ...(flags.include !== undefined && { glob: flags.include }),
    };
    const places = (await ask(tool.name, question, session)).slice(0, most);
    await output.list(each(places), (place) => line(place as Place, session));
    return places.length === 0 ? EXIT_FAILED : EXIT_OK;
  });
}

async function* each(places: readonly Place[]): AsyncGenerator<Place> {
  yield* places;
}

/** Asks again as long as the index is being made: a server that was started for this has none yet. */
async function ask(name: string, question: object, session: Session): Promise<readonly Place[]> {
  for (;;) {
    const result = await request('tools/call', { name, arguments: question }, session);
    const content = (Array.isArray(result.content) ? result.content : []) as readonly Data[];
    if (result.isError === true) throw failureOf(String(content[0]?.text ?? 'The search failed'), undefined);
    const { matches, building } = (result.structuredContent ?? {}) as Data;
    if (building !== true) return placesOf(Array.isArray(matches) ? matches : [], content.slice(1));
    session.output.progress('the index is being made');
    await delay(BUILDING_MS);
  }
}

/** One block for each match: a resource with its lines, or a link. */
const placesOf = (matches: readonly Data[], blocks: readonly Data[]): readonly Place[] =>
  matches.map(({ uri, heading, page }, index) => {
    const { resource, title, name } = blocks[index] ?? {};
    const { uri: lines, text } = (resource ?? {}) as Data;
    return {
      uri: String(lines ?? uri),
      ...(typeof heading === 'string' && { heading }),
      ...(typeof page === 'number' && { page }),
      text: String(text ?? title ?? name ?? ''),
    };
  });

function line({ uri, heading, page, text }: Place, { output }: Session): string {
  const place = output.paint('magenta', safe(uri));
  const under = [heading, page === undefined ? undefined : `page ${page}`].filter((part) => part !== undefined);
  const head = under.length === 0 ? place : `${place}  ${safe(under.join(', '))}`;
  const shown = text.split('\n').map((each) => `  ${safe(each)}`.trimEnd());
  return [head, ...shown].join('\n');
}
