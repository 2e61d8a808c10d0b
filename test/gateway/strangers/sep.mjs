/** A server written to SEP-2093 alone: the base `resources` capability, and nobody's extension. */
import { pageOf, WireError } from '../fixture/protocol.mjs';

/** @typedef {import('./peer.mjs').Data} Data */

const CONTAINER = { list: true, subscribe: false };
/** Flags of its own, beside the two that the SEP has. */
const NOTE = { list: false, subscribe: true, seek: true, 'vendor.example/depth': { of: [2, null] } };

/** @type {Record<string, Data>} */
const RESOURCES = {
  'shelf:///': { name: 'The shelf', mimeType: 'inode/directory', capabilities: CONTAINER, 'x-vendor': { kept: true } },
  'shelf:///loop': { name: 'A mirror of the shelf', mimeType: 'inode/directory', capabilities: CONTAINER },
  'shelf:///report': {
    name: 'report',
    title: 'Quarterly report',
    description: 'In two formats',
    mimeType: 'text/markdown',
    size: 8,
    annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-01-02T03:04:05Z' },
    icons: [{ src: 'https://stranger.example/report.png', sizes: '48x48' }],
    capabilities: { list: false, subscribe: false },
    'x-vendor': ['kept'],
  },
  ...Object.fromEntries(
    [1, 2, 3, 4, 5].map((number) => [
      `shelf:///note/${number}`,
      { name: `Note ${number}`, mimeType: 'text/plain', size: 6, capabilities: NOTE },
    ]),
  ),
};

/** @type {Record<string, readonly string[]>} */
const CHILDREN = {
  'shelf:///': Object.keys(RESOURCES).filter((uri) => uri !== 'shelf:///'),
  // The graph of resources may have cycles.
  'shelf:///loop': ['shelf:///loop', 'shelf:///'],
};

/** Those who are told of a change, by what they watch. @type {Map<string, Set<(uri: string) => void>>} */
const watchers = new Map();

/** @param {string} uri @param {(uri: string) => void} told */
const watch = (uri, told) => void watchers.set(uri, (watchers.get(uri) ?? new Set()).add(told));

/** @param {string} uri */
const described = (uri) => ({ uri, ...RESOURCES[uri] });

/** @param {import('./peer.mjs').Call} call */
function found({ params: { uri }, modern }) {
  if (Object.hasOwn(RESOURCES, uri)) return described(uri);
  throw new WireError(modern ? -32_602 : -32_002, `There is no ${uri}`, { uri });
}

/** @param {string} uri */
const textOf = (uri) => `text ${uri.slice(-1)}`;

/** @param {string} uri @returns {Data[]} */
function contentsOf(uri) {
  if (uri === 'shelf:///report') {
    const { size: _size, ...both } = described(uri);
    return [
      { ...both, size: 8, text: '# Report' },
      { ...both, mimeType: 'text/html', size: 15, text: '<h1>Report</h1>' },
    ];
  }
  // A part of the children, each with its own metadata. Nothing says that they are all.
  if (uri === 'shelf:///') {
    return ['shelf:///note/1', 'shelf:///note/2'].map((child) => ({ ...described(child), text: textOf(child) }));
  }
  // All but the URI and the text is optional.
  return uri === 'shelf:///loop' ? [] : [{ uri, text: textOf(uri) }];
}

const EMBEDDED = {
  type: 'resource',
  resource: { uri: 'shelf:///note/2', text: 'text 2' },
  // As before the SEP, which puts annotations into the resource.
  annotations: { audience: ['user'], priority: 0.5 },
};

/** The block and the resource in it have different annotations. */
const DOUBLE = { ...EMBEDDED, resource: { ...EMBEDDED.resource, annotations: { priority: 1 } } };

/** @type {Record<string, (call: import('./peer.mjs').Call) => Data[]>} */
const TOOLS = {
  show: () => [EMBEDDED],
  double: () => [DOUBLE],
  counts: ({ count }) => [
    { type: 'text', text: JSON.stringify([count('resources/metadata'), count('resources/read')]) },
  ],
  touch: ({ params }) => {
    const { uri } = params.arguments;
    for (const told of watchers.get(uri) ?? []) told(uri);
    return [];
  },
};

/** @type {import('./peer.mjs').Stranger} */
export const stranger = {
  identity: { name: 'sep', version: '1.0.0' },
  capabilities: { resources: { subscribe: true }, tools: {}, prompts: {} },
  listen({ params, tell }) {
    const { resourceSubscriptions = [] } = params.notifications ?? {};
    const watched = resourceSubscriptions.filter((/** @type {string} */ uri) => RESOURCES[uri]?.capabilities.subscribe);
    for (const each of watched) watch(each, (uri) => tell('notifications/resources/updated', { uri }));
    return watched.length > 0 ? { resourceSubscriptions: watched } : {};
  },
  methods: {
    'resources/list': (call) => {
      const { uri, cursor } = call.params;
      if (uri === undefined) return { resources: ['shelf:///', 'shelf:///report'].map(described) };
      if (found(call).capabilities?.list !== true) throw new WireError(-32_602, `${uri} has no children`);
      const { items, ...next } = pageOf((CHILDREN[uri] ?? []).map(described), cursor);
      return { resources: items, ...next };
    },
    'resources/metadata': (call) => ({ resource: found(call) }),
    'resources/read': (call) => ({ contents: contentsOf(String(found(call).uri)) }),
    'resources/subscribe': (call) => {
      const { uri, capabilities } = found(call);
      if (capabilities?.subscribe !== true) throw new WireError(-32_602, `${uri} cannot be subscribed to`);
      watch(uri, (changed) => call.tell('notifications/resources/updated', { uri: changed }));
      return {};
    },
    'resources/unsubscribe': ({ params: { uri } }) => ({ ended: watchers.delete(uri) }),
    'tools/list': () => ({ tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } })) }),
    'tools/call': (call) => ({ content: TOOLS[call.params.name]?.(call) ?? [] }),
    'prompts/list': () => ({ prompts: [{ name: 'show' }] }),
    'prompts/get': () => ({ messages: [{ role: 'user', content: EMBEDDED }] }),
  },
};
