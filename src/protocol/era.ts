/** The two ways in which the protocol is spoken. */

/** `legacy` is the protocol up to 2025-11-25, which shakes hands, `modern` that of 2026-07-28, whose requests stand alone. */
export type Era = 'legacy' | 'modern';
