/** What is to be done with something, and what was decided about it. */

/**
 * What is to be done. `list` is both to be shown in lists and to have one's children listed; `read` is also to be found
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

/**
 * `deny` says that it may not be, `hide` that there is no such thing, in the words and with the code of what is really
 * missing. `ask` lets a human decide.
 */
export type AccessEffect = 'allow' | 'ask' | 'deny' | 'hide';

/** What was decided about an operation. */
export interface Decided {
  readonly effect: AccessEffect;
  /** What decided. Never sent to a peer. */
  readonly rule: string;
}
