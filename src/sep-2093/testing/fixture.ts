/** Types of the laws of SEP-2093, and of the server under test: how a law asks it, and which resources it has. */
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
  /** A resource with children, and the URIs of all its children in any order. More than one page of children proves more. */
  readonly container: { readonly uri: string; readonly children: readonly string[] };
  /** The URI of a resource without children that can be read. A resource with several formats proves more. */
  readonly leaf: string;
  /** A URI without a resource. */
  readonly missing: string;
  /** Stops the server and removes all that was made for the test. */
  close?(): Promise<void>;
}

export type MakeHierarchyFixture = () => Promise<HierarchyFixture> | HierarchyFixture;

/** A law of SEP-2093 as data, for any test runner. */
export interface HierarchyLaw {
  /** The law as a sentence, with its clause. */
  readonly name: string;
  /** @throws AssertionError if the server breaks the law */
  readonly check: (fixture: HierarchyFixture) => Promise<void>;
}
