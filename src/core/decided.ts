/** The operations that access is decided about, and the decision. */

/**
 * An operation. `list` is both to be shown in lists and to have one's children listed; `read` is also to be found
 * by a search for what is in it; `prompt` is to be listed, completed and got.
 */
export type AccessOperation = 'list' | 'read' | 'metadata' | 'subscribe' | 'complete' | 'call' | 'prompt';

export const ACCESS_OPERATIONS: readonly AccessOperation[] = [
  'list',
  'read',
  'metadata',
  'subscribe',
  'complete',
  'call',
  'prompt',
];

/** Operations before which a human can be asked in every revision. */
export const ASKABLE: readonly AccessOperation[] = ['read', 'call', 'prompt'];

/**
 * `deny` says that it may not be, `hide` that there is no such thing, in the words and with the code of what is really
 * missing. `ask` lets a human decide.
 */
export type AccessEffect = 'allow' | 'ask' | 'deny' | 'hide';

/** Effects, the strictest first: of several that fit, the first of these decides. */
export const STRICTNESS: readonly AccessEffect[] = ['hide', 'deny', 'ask', 'allow'];

/** The decision about an operation. */
export interface Decided {
  readonly effect: AccessEffect;
  /** The rule that decided. No peer is told of it. */
  readonly rule: string;
}
