/** Data of a server that nothing has checked yet. */

export type { Data } from '../protocol/data.ts';

/** `legacy` is the protocol up to 2025-11-25, `modern` that of 2026-07-28. */
export type Era = 'legacy' | 'modern';
