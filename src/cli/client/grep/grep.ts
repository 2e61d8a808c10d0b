/** `vitrine grep`: uses the search tool of a Vitrine; from any other server it reads text after text. */

import type { Secrets } from '../../../config/secrets.ts';
import { compileLineTest, LINE_BREAK, ONE_LINE } from '../../../core/search.ts';
import { UsageError } from '../../errors.ts';
import { EXIT_FAILED, EXIT_INCOMPLETE, EXIT_OK } from '../exit-codes.ts';
import { wantedLimits } from '../ls.ts';
import { bytesOf, countOf } from '../printing/numbers.ts';
import { safe } from '../printing/output.ts';
import { onServer, type ServerFlags, type Session } from '../reaching/connect.ts';
import { urisOf } from '../references.ts';
import type { Match, Query } from './query.ts';
import { matchesByReading } from './reading.ts';
import { matchesOfTool, searchToolOf } from './tool.ts';

export interface GrepFlags extends ServerFlags {
  readonly ignoreCase?: boolean;
  readonly fixedStrings?: boolean;
  readonly filesWithMatches?: boolean;
  readonly include?: string;
  readonly maxMatches?: string;
  readonly maxResources?: string;
  readonly maxDepth?: string;
  readonly maxBytes?: string;
  /** Reads the texts even if the server has a search tool. */
  readonly read?: boolean;
  /** Runs `find` instead: the best places for a question. */
  readonly ranked?: boolean;
}

const DEFAULT_MAX_MATCHES = 10_000;
const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;

/** Prints the matches of a pattern. Exits with `EXIT_FAILED` if there are none. */
export const grep = async (
  server: string,
  pattern: string,
  references: readonly string[],
  flags: GrepFlags,
  secrets: Secrets,
): Promise<void> => {
  const query = await queryOf(pattern, flags);
  const maxMatches = countOf(flags.maxMatches, '--max-matches', DEFAULT_MAX_MATCHES);
  await onServer(server, flags, secrets, async (session) => {
    const { output } = session;
    const uris = await urisOf(references, session);
    const tool = flags.read === true ? undefined : await searchToolOf(session);
    let count = 0;
    let incomplete = false;
    const cut = (): void => {
      incomplete = true;
    };
    const seen = new Set<string>();
    const matches = async function* (): AsyncGenerator<Match> {
      for (const uri of uris.length === 0 ? [undefined] : uris) {
        const found =
          tool === undefined
            ? matchesByReading(uri, query, session, cut)
            : matchesOfTool(tool, uri, query, session, cut);
        for await (const match of found) {
          if (flags.filesWithMatches === true && seen.has(match.uri)) continue;
          seen.add(match.uri);
          if (count >= maxMatches) {
            output.note(`stopped after ${maxMatches} matches`);
            incomplete ||= flags.maxMatches === undefined;
            return;
          }
          count++;
          yield match;
        }
      }
    };
    const shown =
      flags.filesWithMatches === true && output.form !== 'human'
        ? urisOnly(matches())
        : (matches() as AsyncIterable<unknown>);
    await output.list(shown, (match) => line(match as Match, flags.filesWithMatches === true, session));
    return incomplete ? EXIT_INCOMPLETE : count === 0 ? EXIT_FAILED : EXIT_OK;
  });
};

async function* urisOnly(matches: AsyncIterable<Match>): AsyncGenerator<string> {
  for await (const { uri } of matches) yield uri;
}

function line({ uri, line: number, text }: Match, uriOnly: boolean, { output }: Session): string {
  const place = output.paint('magenta', safe(uri));
  return uriOnly ? place : `${place}:${output.paint('green', String(number))}:${safe(text)}`;
}

/** @throws UsageError for an empty pattern, one with line breaks, or a wrong limit; ResourceError `invalid` for a bad one */
async function queryOf(typed: string, flags: GrepFlags): Promise<Query> {
  if (typed === '') throw new UsageError('The pattern is empty; give at least one character');
  if (LINE_BREAK.test(typed)) throw new UsageError(ONE_LINE);
  const ignoreCase = flags.ignoreCase === true;
  // Literal matching always respects case, so a fixed string that ignores case becomes an expression with all signs escaped.
  const pattern = ignoreCase ? `(?i)${flags.fixedStrings === true ? quoted(typed) : typed}` : typed;
  const literal = flags.fixedStrings === true && !ignoreCase;
  const test = await compileLineTest({ pattern, literal, glob: undefined, uri: undefined });
  if (test === undefined) throw new UsageError('The pattern matches nothing; give another one');
  return {
    pattern,
    literal,
    glob: flags.include,
    test,
    maxResources: countOf(flags.maxResources, '--max-resources', 10_000),
    maxDepth: countOf(flags.maxDepth, '--max-depth', 32),
    maxBytes: bytesOf(flags.maxBytes, '--max-bytes', DEFAULT_MAX_BYTES),
    firstOnly: flags.filesWithMatches === true,
    wanted: wantedLimits(flags),
  };
}

const quoted = (text: string): string => text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
