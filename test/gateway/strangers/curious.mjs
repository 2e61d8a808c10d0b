/** A server that gives back who asks. */

/** @type {import('./peer.mjs').Stranger} */
export const stranger = {
  identity: { name: 'curious', version: '1.0.0' },
  capabilities: { tools: {} },
  methods: {
    'tools/list': () => ({ tools: [{ name: 'who', inputSchema: { type: 'object' } }] }),
    'tools/call': ({ who }) => ({ content: [{ type: 'text', text: JSON.stringify(who) }] }),
  },
};
