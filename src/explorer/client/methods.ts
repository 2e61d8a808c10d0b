/** The method that returns the metadata of a resource. MCP does not define it; the server defines its schema. */
export const METADATA_METHOD = 'resources/metadata';
