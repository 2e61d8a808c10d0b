/** The JSON-RPC error codes that Vitrine sends or understands. */

export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** A missing resource, in revisions up to 2025-11-25; 2026-07-28 has `INVALID_PARAMS` for it. */
export const LEGACY_RESOURCE_NOT_FOUND = -32002;

/** A header of a request and its body say different things (2026-07-28, Streamable HTTP). */
export const HEADER_MISMATCH = -32020;

/** A request needs what its client has not declared (2026-07-28). */
export const MISSING_CAPABILITY = -32021;
