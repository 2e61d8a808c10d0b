/** Types of the laws of SEP-2093, and of the server that they are checked on: a way to ask it, and what is in it. */
import type { Data } from '../../protocol/data.ts';

/** A server under test. Every law gets one of its own. */
export interface HierarchyFixture {
  /**
   * Sends a request and gives the result with every field: the typed methods of SDK clients drop some.
   * @throws an error with the JSON-RPC `code`, and `data` where the server sent any
   */
  request(method: string, params: Data): Promise<Data>;
  /** The server's capabilities as it declared them. */
  readonly capabilities: Data;
  /** A resource with children, and the URIs of all of them in any order. More than a page of them proves more. */
  readonly container: { readonly uri: string; readonly children: readonly string[] };
  /** A resource without children that can be read. One with several formats proves more. */
  readonly leaf: string;
  /** A URI at which there is nothing. */
  readonly missing: string;
  /** Ends what was made for the test. */
  close?(): Promise<void>;
}

export type MakeHierarchyFixture = () => Promise<HierarchyFixture> | HierarchyFixture;

/** A law of SEP-2093 as data, for any test runner. */
export interface HierarchyLaw {
  /** The law as a sentence, with its clause. */
  readonly name: string;
  /** @throws AssertionError where the server breaks it */
  readonly check: (fixture: HierarchyFixture) => Promise<void>;
}
