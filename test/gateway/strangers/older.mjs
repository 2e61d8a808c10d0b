/** A server of before SEP-2093: no `resources/metadata`, no capabilities, and several URIs in one read. */

/** @typedef {import('./peer.mjs').Data} Data */

/** @type {Data[]} */
const LISTED = [
  { uri: 'old:/day', name: 'day', mimeType: 'application/json' },
  { uri: 'old:/one', name: 'The one', title: 'Listed with a title' },
  // It says more than its server can do.
  { uri: 'old:/boast', name: 'boast', capabilities: { subscribe: true, seek: 'yes' } },
];

/** @type {Record<string, Data[]>} */
const CONTENTS = {
  'old:/day': [
    { uri: 'old:/day/9h', name: 'Breakfast', mimeType: 'text/plain', text: 'tea', 'x-vendor': 1 },
    { uri: 'old:/day/12h', text: 'soup' },
    { uri: 'old:/day/12h', mimeType: 'text/html', text: '<i>soup</i>' },
    { uri: 'old:/day/20h', blob: 'YnJlYWQ=' },
  ],
  'old:/day/9h': [{ uri: 'old:/day/9h', text: 'tea' }],
  'old:/one': [{ uri: 'old:/one', text: 'one' }],
  'old:/boast': [{ uri: 'old:/boast', text: 'loud' }],
  'old:/in/no/list': [{ uri: 'old:/in/no/list', text: 'here' }],
};

/** @type {import('./peer.mjs').Stranger} */
export const stranger = {
  identity: { name: 'older', version: '1.0.0' },
  capabilities: { resources: {}, tools: {} },
  methods: {
    // It ignores the URI of a list.
    'resources/list': () => ({ resources: LISTED }),
    'resources/read': ({ params: { uri } }) => {
      if (!Object.hasOwn(CONTENTS, uri))
        throw Object.assign(new Error('What is that?'), { code: -32_002, data: { uri } });
      return { contents: CONTENTS[uri] };
    },
    'tools/list': () => ({ tools: [{ name: 'counts', inputSchema: { type: 'object' } }] }),
    'tools/call': ({ count }) => ({
      content: [{ type: 'text', text: JSON.stringify([count('resources/metadata'), count('resources/read')]) }],
    }),
  },
};
