/** The methods beyond those of MCP; their schemas are the server's. */
export const METADATA_METHOD = 'resources/metadata';
