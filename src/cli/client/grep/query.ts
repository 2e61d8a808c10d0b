/** Types of the query of `vitrine grep`, and of its matches. */
import type { LineTest } from '../../../core/search.ts';

export interface Match {
  readonly uri: string;
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}

export interface Query {
  /** A pattern in RE2 syntax, or plain text if `literal` is set. */
  readonly pattern: string;
  readonly literal: boolean;
  readonly glob: string | undefined;
  readonly test: LineTest;
  readonly maxResources: number;
  readonly maxDepth: number;
  /** The most bytes of one resource. */
  readonly maxBytes: number;
  /** Whether one match of each resource is enough. */
  readonly firstOnly: boolean;
  /** Limits that the user gave explicitly. */
  readonly wanted: ReadonlySet<string>;
}
