/** One part of the fuzzer: how its cases are made, and how each is checked. */
import type { IAsyncPropertyWithHooks } from 'fast-check';

export interface Target {
  readonly name: string;
  /** Its share of all cases, from 0 to 1. */
  readonly share: number;
  // biome-ignore lint/suspicious/noExplicitAny: the cases of each target are its own
  readonly property: IAsyncPropertyWithHooks<any>;
}
