/**
 * Names of attributes and metrics. The conventions for MCP are in development, so the stable package has no constants for them:
 * https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md
 */
export { ATTR_ERROR_TYPE, ATTR_NETWORK_TRANSPORT } from '@opentelemetry/semantic-conventions';

export const MCP_METHOD = 'mcp.method.name';
export const MCP_REVISION = 'mcp.protocol.version';
export const MCP_SESSION = 'mcp.session.id';
export const MCP_URI = 'mcp.resource.uri';
export const TOOL_NAME = 'gen_ai.tool.name';
export const PROMPT_NAME = 'gen_ai.prompt.name';
export const OPERATION_NAME = 'gen_ai.operation.name';
export const JSONRPC_ID = 'jsonrpc.request.id';
export const STATUS_CODE = 'rpc.response.status_code';

export const MOUNT = 'vitrine.mount';
export const OPERATION = 'vitrine.operation';
export const REQUEST_ID = 'vitrine.request.id';
export const BYTES = 'vitrine.bytes';
export const LEFT_OUT = 'vitrine.spans.left_out';

export const SERVER_DURATION = 'mcp.server.operation.duration';
export const CLIENT_DURATION = 'mcp.client.operation.duration';
export const SESSION_DURATION = 'mcp.server.session.duration';
export const MOUNT_DURATION = 'vitrine.mount.operation.duration';
export const MOUNT_BYTES = 'vitrine.mount.read.io';

/** The bounds of the histograms that the conventions ask for, in seconds. */
export const SECONDS: number[] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** Bounds for operations of mounts, most of which take less than the shortest of `SECONDS`. */
export const SHORT_SECONDS: number[] = [0.0005, 0.001, 0.002, 0.005, ...SECONDS];

/** Replaces names over the limit, and values that have no name of their own. */
export const OTHER = '_OTHER';
