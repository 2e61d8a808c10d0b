/** Types of the query of `vitrine grep`, and of its matches. */
import type { LineTest } from '../../../core/search.ts';

export interface Match {
  readonly uri: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

export interface Query {
  /** RE2 syntax, or plain text where `literal`. */
  readonly pattern: string;
  readonly literal: boolean;
  readonly glob: string | undefined;
  readonly test: LineTest;
  readonly maxResources: number;
  readonly maxDepth: number;
  /** Of one resource. */
  readonly maxBytes: number;
  /** Limits that were typed. */
  readonly wanted: ReadonlySet<string>;
}
