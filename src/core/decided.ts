/** The operations that a policy decides about, and the decision. */

/**
 * An operation. `list` covers both being shown in lists and listing children; `read` also covers search in the content;
 * `prompt` covers listing, completing and getting.
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
 * `deny` refuses the operation. `hide` answers as if the resource did not exist, with the same text and code as for a
 * missing one. `ask` lets a human decide.
 */
export type AccessEffect = 'allow' | 'ask' | 'deny' | 'hide';

/** Effects, strictest first: of several matching rules, the strictest decides. */
export const STRICTNESS: readonly AccessEffect[] = ['hide', 'deny', 'ask', 'allow'];

/** The decision about an operation. */
export interface Decided {
  readonly effect: AccessEffect;
  /** The rule that decided. It is not sent to peers. */
  readonly rule: string;
}
