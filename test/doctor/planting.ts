/** Functions that plant one mistake in an otherwise good server. */
import type { Era, Fault, Outcome, Params } from './good.ts';

export interface Planted {
  /** The mistake of the server. */
  readonly fault: string;
  /** The check that has to find it. */
  readonly check: string;
  readonly level: 'error' | 'warning';
  /** The era in which it is found. Default: both. */
  readonly era?: Era;
  readonly plant: Fault;
}

/** Replaces the answers to some methods. */
export const answers =
  (given: Readonly<Record<string, (params: Params, usual: Params) => Outcome>>): Fault['answer'] =>
  (method, params, usual) => {
    const other = given[method];
    if (other === undefined) return usual();
    const outcome = usual();
    return other(params, outcome !== undefined && 'result' in outcome ? outcome.result : {});
  };

export const result = (value: Params): Outcome => ({ result: value });
export const refusal = (code: number): Outcome => ({ error: { code, message: 'refused' } });

/** Adds members to the handshakes of both eras, or replaces some. */
export const hello = (more: Params): Fault => ({
  answer: answers({
    initialize: (_, usual) => result({ ...usual, ...more }),
    'server/discover': (_, usual) => result({ ...usual, ...more }),
  }),
});
