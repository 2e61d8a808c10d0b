/** The default host, port and path of the HTTP endpoint. */
export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 8931;
export const ENDPOINT = '/mcp';
