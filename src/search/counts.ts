/** Remembers how many passages have a word, until something is written. */
import type { Rows, Statement } from './thread.ts';

/** The most counts that are remembered; with more, all are counted again. */
export const MAX_KEPT = 20_000;

/** Returns the number that each statement gives. */
export type Count = (statements: readonly Statement[]) => Promise<readonly number[]>;

export interface KeptCounts {
  readonly count: Count;
  /** Forgets all counts, because something was written. */
  forget(): void;
}

/** @param ask runs the statements whose numbers are not remembered */
export function keepCounts(ask: (statements: readonly Statement[]) => Promise<readonly Rows[]>): KeptCounts {
  let kept = new Map<string, number>();
  return {
    async count(statements) {
      const before = kept;
      const keys = statements.map((statement) => JSON.stringify(statement));
      const missing = statements.filter((_, at) => !before.has(keys[at] ?? ''));
      const rows = missing.length === 0 ? [] : await ask(missing);
      const counted = new Map(
        missing.map((statement, at) => [JSON.stringify(statement), Number(rows[at]?.[0]?.[0] ?? 0)]),
      );
      const numbers = keys.map((key) => counted.get(key) ?? before.get(key) ?? 0);
      if (before.size + counted.size > MAX_KEPT) before.clear();
      for (const [key, number] of counted) before.set(key, number);
      return numbers;
    },
    forget() {
      // A count that is still running goes into the old map, which nobody reads any more.
      kept = new Map();
    },
  };
}
