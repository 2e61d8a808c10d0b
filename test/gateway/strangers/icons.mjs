/** SEP-973 as its text has it: `sizes` of an icon is one text. */

/** @type {import('./peer.mjs').Data} */
const icon = { src: 'https://stranger.example/icon.png', mimeType: 'image/png', sizes: '48x48 96x96', theme: 'dark' };
const icons = [icon, { src: 'https://stranger.example/icon.svg', sizes: 'any' }];

/** @type {import('./peer.mjs').Stranger} */
export const stranger = {
  identity: {
    name: 'icons',
    title: 'A stranger with icons',
    version: '2.0.0',
    description: null,
    websiteUrl: 'https://stranger.example/about',
    icons,
    'x-vendor': 'in serverInfo',
  },
  capabilities: { resources: {}, tools: {}, prompts: {} },
  methods: {
    'resources/list': () => ({ resources: [{ uri: 'thing:///one', name: 'one', icons }] }),
    'resources/templates/list': () => ({
      resourceTemplates: [{ uriTemplate: 'thing:///{x}', name: 'x', icons }],
    }),
    'tools/list': () => ({ tools: [{ name: 'one', inputSchema: { type: 'object' }, icons }] }),
    'prompts/list': () => ({ prompts: [{ name: 'one', icons }] }),
    'prompts/get': () => ({
      messages: [{ role: 'user', content: { type: 'resource_link', uri: 'thing:///one', name: 'one', icons } }],
    }),
    'resources/read': () => ({ contents: [{ uri: 'thing:///one', name: 'one', text: 'one', icons }] }),
    'tools/call': () => ({
      content: [
        { type: 'resource_link', uri: 'thing:///one', name: 'one', icons },
        { type: 'resource', resource: { uri: 'thing:///one', name: 'one', text: 'one', icons } },
      ],
    }),
  },
};
