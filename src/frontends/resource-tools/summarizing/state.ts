/** The state of `summarize` between two rounds. It is sealed on the way through the client, so it comes back as it left. */
import { scrub } from '../../../core/text/scrub.ts';
import { trailingPartBytes } from '../../../core/text/text.ts';

export interface Progress {
  readonly summarizing: true;
  readonly start: number;
  /** Behind the last byte that was taken into a piece. */
  readonly end: number;
  /** That was the end of the text. */
  readonly ended: boolean;
  readonly total?: number | undefined;
  /** Bytes of a piece, once known. */
  readonly size?: number | undefined;
  readonly summaries: readonly string[];
  /** Pieces that were asked for in this round. */
  readonly asked: number;
  /** The whole summary was asked for in this round. */
  readonly final?: boolean;
}

/** The most bytes of the summary of one piece: all of them have to fit into the state. */
const MAX_SUMMARY_BYTES = 2_000;

export const startAt = (offset: number): Progress => ({
  summarizing: true,
  start: offset,
  end: offset,
  ended: false,
  summaries: [],
  asked: 0,
});

/** Undefined in the first round. */
export function progressOf(state: unknown): Progress | undefined {
  return typeof state === 'object' && state !== null && 'summarizing' in state ? (state as Progress) : undefined;
}

/** The model's words as they may be kept: no control characters, bounded. */
export function pieceSummary(answer: string): string {
  const bytes = Buffer.from(scrub(answer).trim()).subarray(0, MAX_SUMMARY_BYTES);
  return bytes.subarray(0, bytes.byteLength - trailingPartBytes(bytes)).toString('utf8');
}
