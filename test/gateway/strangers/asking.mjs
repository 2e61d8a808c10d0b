/** A server that asks its client in the middle of a request, as those of most SDKs do: in 2025 only, though it has both eras. */
import { WireError } from '../fixture/protocol.mjs';

/** @param {string} text */
const text = (text) => ({ content: [{ type: 'text', text }] });

/** The parameters of each question; SDKs send none with `roots/list`. */
const QUESTIONS = /** @type {Record<string, import('./peer.mjs').Data | undefined>} */ ({
  'roots/list': undefined,
  'elicitation/create': {
    message: 'Whose word?',
    requestedSchema: { type: 'object', properties: { word: { type: 'string' } } },
  },
  'sampling/createMessage': { messages: [{ role: 'user', content: { type: 'text', text: 'Write' } }], maxTokens: 9 },
});

/** @param {import('./peer.mjs').Call} call @param {string} method */
async function asked({ modern, ask }, method) {
  if (modern) throw new WireError(-32_603, `${method} is not supported in this mode`);
  return JSON.stringify(await ask(method, QUESTIONS[method]));
}

/** @type {import('./peer.mjs').Stranger} */
export const stranger = {
  identity: { name: 'asking', version: '1.0.0' },
  capabilities: { resources: {}, tools: {}, prompts: {}, logging: {} },
  methods: {
    'tools/list': () => ({
      tools: [...Object.keys(QUESTIONS), 'log', 'era', 'starts'].map((name) => ({
        name: name.replace('/', '-'),
        inputSchema: { type: 'object' },
      })),
    }),
    'tools/call': async (call) => {
      const { name } = call.params;
      if (name === 'era') return text(call.modern ? '2026' : '2025');
      if (name === 'log') {
        if (!call.modern || call.level !== undefined) {
          call.tell('notifications/message', { level: 'warning', data: 'the glass is thin' });
        }
        return text('logged');
      }
      return text(await asked(call, name.replace('-', '/')));
    },
    'prompts/list': () => ({ prompts: [{ name: 'asks' }] }),
    'prompts/get': async (call) => ({
      messages: [{ role: 'user', content: { type: 'text', text: await asked(call, 'elicitation/create') } }],
    }),
    'resources/list': () => ({ resources: [{ uri: 'thing:///asks', name: 'asks' }] }),
    'resources/read': async (call) => ({
      contents: [{ uri: 'thing:///asks', text: await asked(call, 'elicitation/create') }],
    }),
  },
};
