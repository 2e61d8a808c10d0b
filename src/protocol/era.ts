/** The two eras of the protocol. */

/** `legacy`: up to 2025-11-25, beginning with `initialize`; `modern`: 2026-07-28, in which each request is independent. */
export type Era = 'legacy' | 'modern';
