/**
 * The `summarize` tool: the client's own model summarises a large text piece by piece, so that no context has to hold
 * the whole text. The pieces are read like any read of this caller, with the same confirmations (SEC-SAMP-2). Between
 * rounds, the client carries the state, sealed.
 */
import { z } from 'zod';
import { sampledText } from '../../core/answers.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { Invocation } from '../../core/invocation.ts';
import { scrub } from '../../core/text/scrub.ts';
import { defineTool, type Tool } from '../../core/tool.ts';
import { type CallToolResult, text } from '../../protocol/content.ts';
import { type InputRequired, inputRequired } from '../../protocol/input-required.ts';
import { textArgument, uriArgument } from './schemas.ts';
import type { ResourceToolContext, ResourceToolOptions } from './setup.ts';
import { pieceBytes, readBatch } from './summarizing/pieces.ts';
import { combinePieces, summarizePiece, summarizeWhole } from './summarizing/requests.ts';
import { type Progress, pieceSummary, progressOf, startAt } from './summarizing/state.ts';

/** Pieces that are summarised at the same time. */
const PARALLEL = 4;

/**
 * Rounds of pieces in one call. Clients end a call after some rounds; the shortest limit is eight. Confirmation, roots
 * and the final combination each take one more round.
 */
const MAX_ROUNDS = 5;

/** The most pieces of one call. Of a longer text the first pieces are summarised, and the answer says where to continue. */
const MAX_PIECES = PARALLEL * MAX_ROUNDS;

const DEFAULT_WORDS = 200;

const input = z.strictObject({
  uri: uriArgument.describe('The text to summarise'),
  focus: textArgument(1_000).optional().describe('What the summary should be about'),
  max_words: z
    .number()
    .int()
    .min(20)
    .max(1_000)
    .optional()
    .describe(`Length of the summary. Default: ${DEFAULT_WORDS}`),
  start_offset: z.number().int().min(0).optional().describe('Byte to begin at'),
});

const output = z.object({ summary: z.string(), end_offset: z.number(), complete: z.boolean() });

type Arguments = z.infer<typeof input>;

export function summarizeTool(
  { resources }: Pick<ResourceToolContext, 'resources'>,
  { prefix = '' }: Pick<ResourceToolOptions, 'prefix'> = {},
): Tool {
  return defineTool({
    name: `${prefix}summarize`,
    title: 'Summarise a large text',
    description:
      'Lets the model of this client summarise a text that is too large to read, piece by piece: ' +
      `in one call up to about ${Math.floor((MAX_PIECES * pieceBytes(undefined, MAX_PIECES)) / 1024)} KiB.`,
    annotations: { readOnlyHint: true, openWorldHint: false },
    inputSchema: input,
    outputSchema: output,
    offeredTo: ({ sampling }) => sampling,
    async run(args, invocation) {
      if (!invocation.client.sampling)
        throw new ResourceError(
          'invalid',
          'This client does not let servers use its model (it declares no sampling); read the text in windows instead',
          { uri: args.uri },
        );
      return step(args, resources, invocation);
    },
  });
}

/** Runs one round: takes the last answers, then asks for the next pieces or the combination, or returns the summary. */
async function step(
  args: Arguments,
  resources: ResourceToolContext['resources'],
  invocation: Invocation,
): Promise<CallToolResult | InputRequired> {
  const before = progressOf(invocation.state);
  if (before?.final) return resultOf(args, before, textIn(invocation, 'summary'));
  const known = before === undefined ? startAt(args.start_offset ?? 0) : withAnswers(before, invocation);
  invocation.progress(known.end - known.start, known.total === undefined ? undefined : known.total - known.start);
  if (isRead(known)) return combined(args, known, invocation);

  const size = known.size ?? 0;
  const pieces = { offset: known.end, size, pieces: PARALLEL, maxPieces: MAX_PIECES };
  const batch = await readBatch(resources, args.uri, pieces, invocation);
  if (batch.pieces.length === 0) {
    if (known.summaries.length === 0) throw invalid('There is no text to summarise after start_offset', args.uri);
    return combined(args, { ...known, ended: true }, invocation);
  }
  const next: Progress = {
    ...known,
    end: batch.end,
    ended: batch.ended,
    total: batch.total,
    size: batch.size,
    asked: batch.pieces.length,
  };
  const words = args.max_words ?? DEFAULT_WORDS;
  const [only] = batch.pieces;
  if (known.summaries.length === 0 && batch.ended && batch.pieces.length === 1 && only !== undefined) {
    return inputRequired(
      { summary: summarizeWhole(only, { uri: args.uri, focus: args.focus, words }) },
      invocation.seal({ ...next, final: true }),
    );
  }
  const requests = batch.pieces.map((piece, index) => [
    `piece-${index}`,
    summarizePiece(piece, { uri: args.uri, focus: args.focus, number: known.summaries.length + index + 1 }),
  ]);
  return inputRequired(Object.fromEntries(requests), invocation.seal(next));
}

const isRead = (progress: Progress): boolean =>
  progress.summaries.length > 0 && (progress.ended || progress.summaries.length >= MAX_PIECES);

function withAnswers(before: Progress, invocation: Invocation): Progress {
  const answers = Array.from({ length: before.asked }, (_, index) => textIn(invocation, `piece-${index}`));
  return { ...before, asked: 0, summaries: [...before.summaries, ...answers.map(pieceSummary)] };
}

/** @throws ResourceError `invalid` for an answer without text */
function textIn(invocation: Invocation, key: string): string {
  const answer = sampledText(invocation.answers[key]);
  if (answer === undefined || answer.trim() === '')
    throw invalid("The client's model gave no summary of a piece; call again, or read the text in windows");
  return answer;
}

function combined(args: Arguments, known: Progress, invocation: Invocation): InputRequired {
  const about = { uri: args.uri, focus: args.focus, words: args.max_words ?? DEFAULT_WORDS };
  return inputRequired(
    { summary: combinePieces(known.summaries, about) },
    invocation.seal({ ...known, summaries: [], final: true }),
  );
}

function resultOf({ uri }: Arguments, { start, end, total, ended }: Progress, answer: string): CallToolResult {
  const summary = scrub(answer).trim();
  const of = total === undefined ? '' : ` of ${total}`;
  const note = ended
    ? `This is a summary of ${uri}, bytes ${start} to ${end}${of}, by the model of this client.`
    : `This is a summary of the bytes ${start} to ${end}${of} of ${uri} only, by the model of this client. The next part: start_offset ${end}.`;
  return {
    content: [text(summary), text(note)],
    structuredContent: {
      summary,
      start_offset: start,
      end_offset: end,
      ...(total !== undefined && { total_bytes: total }),
      complete: ended,
    },
  };
}
