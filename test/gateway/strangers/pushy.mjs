/**
 * A server that asks its client everything, declared or not, and even what no client answers: as soon as it is ready, and
 * during calls.
 */

const QUESTIONS = /** @type {Record<string, import('./peer.mjs').Data>} */ ({
  'roots/list': {},
  'sampling/createMessage': { messages: [{ role: 'user', content: { type: 'text', text: 'Write' } }], maxTokens: 9 },
  'elicitation/create': { message: 'Whose?', requestedSchema: { type: 'object', properties: {} } },
  'elicitation/unheard-of': {},
  'tools/call': { name: 'x', arguments: {} },
});

/** @param {(method: string, params: import('./peer.mjs').Data) => Promise<any>} ask */
const askAll = (ask) =>
  Promise.all(
    Object.entries(QUESTIONS).map(([method, params]) =>
      ask(method, params).then(
        () => [method, 'answered'],
        ({ code }) => [method, code],
      ),
    ),
  );

/** @type {Promise<any> | undefined} */
let early;

/** @type {import('./peer.mjs').Stranger} */
export const stranger = {
  identity: { name: 'pushy', version: '1.0.0' },
  capabilities: { tools: {} },
  initialized({ ask }) {
    early = askAll(ask);
  },
  methods: {
    'tools/list': () => ({ tools: ['early', 'now'].map((name) => ({ name, inputSchema: { type: 'object' } })) }),
    'tools/call': async ({ params, ask }) => ({
      content: [
        { type: 'text', text: JSON.stringify(Object.fromEntries(await (params.name === 'now' ? askAll(ask) : early))) },
      ],
    }),
  },
};
