/** The state of `summarize` between two rounds. The client carries it sealed, so it comes back unchanged. */
import { scrub } from '../../../core/text/scrub.ts';
import { trailingPartBytes } from '../../../core/text/text.ts';

export interface Progress {
  readonly summarizing: true;
  readonly start: number;
  /** The offset after the last byte of the pieces so far. */
  readonly end: number;
  /** Whether the pieces so far reach the end of the text. */
  readonly ended: boolean;
  readonly total?: number | undefined;
  /** Bytes of a piece, once known. */
  readonly size?: number | undefined;
  readonly summaries: readonly string[];
  /** The number of pieces whose summaries were requested in this round. */
  readonly asked: number;
  /** Whether the summary of the whole was requested in this round. */
  readonly final?: boolean;
}

/** The most bytes of the summary of one piece: the state has to hold all summaries. */
const MAX_SUMMARY_BYTES = 2_000;

export const startAt = (offset: number): Progress => ({
  summarizing: true,
  start: offset,
  end: offset,
  ended: false,
  summaries: [],
  asked: 0,
});

/** The progress in a state that came back; undefined in the first round. */
export function progressOf(state: unknown): Progress | undefined {
  return typeof state === 'object' && state !== null && 'summarizing' in state ? (state as Progress) : undefined;
}

/** A model's summary of a piece without control characters, cut to `MAX_SUMMARY_BYTES`. */
export function pieceSummary(answer: string): string {
  const bytes = Buffer.from(scrub(answer).trim()).subarray(0, MAX_SUMMARY_BYTES);
  return bytes.subarray(0, bytes.byteLength - trailingPartBytes(bytes)).toString('utf8');
}
