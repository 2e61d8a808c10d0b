/** The server answers this when it is well, in either era. */

export const SUBSCRIPTION_KEY = 'io.modelcontextprotocol/subscriptionId';
const SERVER_KEY = 'io.modelcontextprotocol/serverInfo';
const IDENTITY = { name: 'faulty', version: '1.0.0' };
const CAPABILITIES = { resources: { subscribe: true, listChanged: true }, tools: {} };

export const URI = 'thing:///one';

/** @typedef {Record<string, any>} Message */

/**
 * The result of a request; undefined for a method that it does not have.
 * @param {Message} message @param {string} era @param {import('./control.mjs').Control} control
 * @returns {Message | undefined}
 */
export function resultOf({ method, params = {} }, era, control) {
  const modern = era === 'modern';
  const { says = {}, capabilities: more } = control.world();
  const capabilities = { ...CAPABILITIES, ...more };
  if (method in says) return { ...(method.endsWith('/call') ? type(modern) : hint(modern)), ...says[method] };
  switch (method) {
    case 'initialize':
      if (modern) return undefined;
      return { protocolVersion: '2025-11-25', capabilities, serverInfo: IDENTITY };
    case 'server/discover':
      if (!modern) return undefined;
      return {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities,
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { [SERVER_KEY]: IDENTITY },
      };
    case 'ping':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return modern ? undefined : {};
    case 'resources/list':
      return { ...hint(modern), ...page(params.cursor, control) };
    case 'resources/templates/list':
      return { ...hint(modern), resourceTemplates: [] };
    case 'resources/read':
      if (params.uri !== URI) return undefined;
      return { ...hint(modern), contents: [{ uri: URI, mimeType: 'text/plain', text: control.world().text }] };
    case 'tools/list':
      return { ...hint(modern), tools: [{ name: 'say', inputSchema: { type: 'object' } }] };
    case 'tools/call':
      return { ...type(modern), content: [{ type: 'text', text: control.world().text }] };
    default:
      return undefined;
  }
}

/** @param {boolean} modern */
const type = (modern) => (modern ? { resultType: 'complete' } : {});
/** @param {boolean} modern */
const hint = (modern) => (modern ? { ...type(modern), ttlMs: 0, cacheScope: 'private' } : {});

/** Two pages. @param {string | undefined} cursor @param {import('./control.mjs').Control} control */
function page(cursor, control) {
  const repeats = control.fault().kind === 'repeat-cursor';
  const entry = { uri: URI, name: 'one', mimeType: 'text/plain' };
  if (cursor === undefined) return { resources: [entry], nextCursor: 'second' };
  return { resources: [{ ...entry, uri: 'thing:///two', name: 'two' }], ...(repeats && { nextCursor: 'second' }) };
}
