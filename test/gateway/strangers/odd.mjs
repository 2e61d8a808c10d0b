/** A server with more than the protocol knows, in every place. */

const vendor = { 'vendor.example/deep': { er: [1, null] } };
const more = { _meta: vendor, 'x-vendor': ['kept', { as: 'it came' }] };

/** @type {import('./peer.mjs').Stranger} */
export const stranger = {
  identity: { name: 'odd', version: '1.0.0' },
  capabilities: { tools: {}, resources: {}, prompts: {}, logging: {} },
  instructions: 'Look at every piece twice.',
  methods: {
    'tools/list': () => ({ tools: [{ name: 'tell', inputSchema: { type: 'object' }, ...more }], ...more }),
    'tools/call': ({ params, modern, level, tell }) => {
      const { progressToken } = params._meta ?? {};
      if (progressToken !== undefined) {
        tell('notifications/progress', { progressToken, progress: 1, total: 2, message: 'half', ...more });
      }
      if (!modern || level !== undefined) {
        tell('notifications/message', { level: 'error', data: { a: 1 }, ...more });
        tell('notifications/message', { level: 'error', logger: 'mine', data: 'b' });
      }
      return {
        content: [
          { type: 'text', text: 'known', ...more },
          { type: 'hologram', depth: 3, layers: [{ of: 'light' }], ...more },
        ],
        ...more,
      };
    },
    'resources/list': () => ({ resources: [{ uri: 'odd:///one', name: 'one', ...more }] }),
    'resources/read': () => ({ contents: [{ uri: 'odd:///one', name: 'one', text: 'one', ...more }], ...more }),
    'prompts/list': () => ({ prompts: [{ name: 'one', ...more }] }),
    'prompts/get': () => ({
      messages: [{ role: 'user', content: { type: 'vendor.example/hologram', depth: 3, ...more }, ...more }],
      ...more,
    }),
  },
};
