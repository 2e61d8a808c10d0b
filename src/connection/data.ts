/** Data of a server that nothing has checked yet. */

export type { Data } from '../protocol/data.ts';
export type { Era } from '../protocol/era.ts';
