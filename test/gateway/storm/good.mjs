/** The answers of a server that does not misbehave. */

export const EVERYTHING = {
  resources: { subscribe: true, listChanged: true },
  tools: { listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

const INFO = { name: 'storm', version: '1' };

/** @param {any} message @param {string} era @returns {any} undefined for what it does not know */
export function goodAnswer({ method, params }, era) {
  const modern = era === 'modern' ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {};
  switch (method) {
    case 'initialize':
      if (era === 'modern') return undefined;
      return { protocolVersion: '2025-11-25', capabilities: EVERYTHING, serverInfo: INFO };
    case 'server/discover':
      if (era === 'legacy') return undefined;
      return { ...modern, supportedVersions: ['2026-07-28'], capabilities: EVERYTHING, serverInfo: INFO };
    case 'resources/list':
      return { ...modern, resources: [{ uri: 'thing:///one', name: 'one' }] };
    case 'resources/templates/list':
      return { ...modern, resourceTemplates: [] };
    case 'tools/list':
      return { ...modern, tools: [{ name: 'say', inputSchema: { type: 'object' } }] };
    case 'prompts/list':
      return { ...modern, prompts: [{ name: 'greet' }] };
    case 'resources/read':
      return { ...modern, contents: [{ uri: params.uri, text: 'one' }] };
    case 'tools/call':
      return { ...modern, content: [{ type: 'text', text: 'said' }] };
    case 'prompts/get':
      return { ...modern, messages: [] };
    default:
      return modern;
  }
}
