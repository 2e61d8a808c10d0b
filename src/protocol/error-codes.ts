/** The JSON-RPC error codes that Vitrine sends or understands. */

export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** A missing resource, up to revision 2025-11-25; 2026-07-28 uses `INVALID_PARAMS`. */
export const LEGACY_RESOURCE_NOT_FOUND = -32002;

/** A request's header contradicts its body (2026-07-28, Streamable HTTP). */
export const HEADER_MISMATCH = -32020;

/** A request needs a capability that its client has not declared (2026-07-28). */
export const MISSING_CAPABILITY = -32021;
