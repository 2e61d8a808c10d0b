/** A server that asks for the client's roots as soon as the client is ready, as the one for file systems does. */

/** @type {Promise<any> | undefined} */
let roots;

/** @type {import('./peer.mjs').Stranger} */
export const stranger = {
  identity: { name: 'rooted', version: '1.0.0' },
  capabilities: { tools: {} },
  initialized({ client, ask }) {
    if (client.roots !== undefined) roots = ask('roots/list', {}).catch((error) => error.message);
  },
  methods: {
    'tools/list': () => ({ tools: [{ name: 'roots', inputSchema: { type: 'object' } }] }),
    'tools/call': async () => ({
      content: [{ type: 'text', text: JSON.stringify((await roots) ?? 'nobody was asked') }],
    }),
  },
};
