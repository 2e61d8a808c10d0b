/**
 * The explorer that hosts show beside a conversation (SEP-1865): one document without network access and frames, which reads
 * through the host. It shows texts as text and pictures as `data:` URIs. Of any other resource it shows only the name.
 */

const STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1b1915, #f1ede4); --paper: light-dark(#fbf9f4, #1b1a17); --brass: light-dark(#6b4c00, #e2b64d) }
body { margin: 0; padding: 12px; font: 14px/1.5 var(--font-sans, system-ui, sans-serif); color: var(--ink); background: var(--paper) }
nav, p { margin: 0 0 8px } ul { list-style: none; margin: 0; padding: 0; max-height: 320px; overflow: auto }
li { border-top: 1px solid light-dark(#ddd6c8, #3a372f) }
button { font: inherit; color: inherit; background: none; border: 0; padding: 4px 2px; text-align: start; cursor: pointer; min-height: 28px }
li button { width: 100% } .go, nav button { color: var(--brass); text-decoration: underline }
pre { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 320px; overflow: auto; font: 13px/1.45 var(--font-mono, ui-monospace, monospace) }
input { font: inherit; color: inherit; background: transparent; border: 1px solid; border-radius: 2px; padding: 4px 8px; width: 100%; box-sizing: border-box; margin: 0 0 8px }
img { max-width: 100%; max-height: 320px } small { opacity: .8 }
`;

const SCRIPT = String.raw`
'use strict';
const waiting = new Map();
let lastId = 0;
const send = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
const ask = (method, params) => new Promise((resolve, reject) => {
  const id = ++lastId;
  waiting.set(id, { resolve, reject });
  send({ id, method, params });
});
let host = {};
let prefix = '';
/** The views before this one, for the button "Back". */
const above = [];
let at;
const main = document.querySelector('main');
const say = (text) => { document.querySelector('[role=status]').textContent = text; };
const element = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text, ...more });

async function call(tool, args) {
  const result = await ask('tools/call', { name: prefix + tool, arguments: args });
  if (result.isError) throw new Error(result.content?.[0]?.text ?? 'It did not work.');
  return result;
}
async function read(uri) {
  if (host.serverResources !== undefined) {
    try { return (await ask('resources/read', { uri })).contents?.[0] ?? {}; } catch { /* Tries the tool instead. */ }
  }
  const { content = [] } = await call('read', { uri });
  // The first text only describes the resource.
  const found = content.find(({ type }) => type === 'image' || type === 'resource') ?? content.findLast(({ type }) => type === 'text');
  return found?.resource ?? (found?.type === 'image' ? { blob: found.data, mimeType: found.mimeType } : { text: found?.text });
}
function pick(resource) {
  const { uri, name, mimeType } = resource;
  const content = [
    { type: 'text', text: 'The person has picked ' + JSON.stringify(name) + ' in the explorer: ' + uri },
    ...(host.updateModelContext?.resourceLink === undefined ? [] : [{ type: 'resource_link', uri, name, ...(mimeType && { mimeType }) }]),
  ];
  return ask('ui/update-model-context', { content, structuredContent: { picked: { uri, name, mimeType } } })
    .then(() => say('Picked ' + name), (error) => say(error.message));
}
const howOf = (resource) => resource.words !== undefined ? found : isFolder(resource) ? folder : one;
const isFolder = ({ mimeType, capabilities }) => capabilities ? capabilities.list === true : mimeType === 'inode/directory';

async function show(resource, how) {
  say('Loading ...');
  try { await how(resource); say(''); } catch (error) { say(error.message); }
}
async function folder(resource, cursor) {
  const args = { ...(resource.uri && { uri: resource.uri }), ...(cursor && { cursor }) };
  const { structuredContent = {} } = await call('list', args);
  if (!cursor) { at = resource; frame(resource); main.append(document.createElement('ul')); }
  main.querySelector('.more')?.remove();
  for (const each of structuredContent.resources ?? []) {
    const row = rowOf(each, each.name + (isFolder(each) ? '/' : ''));
    if (each.size !== undefined) row.firstChild.append(element('small', ' ' + each.size + ' bytes'));
    main.querySelector('ul').append(row);
  }
  if (structuredContent.nextCursor) {
    const more = element('button', 'More', { className: 'go more' });
    more.onclick = () => void show(resource, () => folder(resource, structuredContent.nextCursor));
    main.append(more);
  }
}
function rowOf(resource, text) {
  const button = element('button', text, { title: resource.uri, dir: 'auto' });
  button.onclick = () => { above.push(at); void show(resource, howOf(resource)); };
  const row = document.createElement('li');
  row.append(button);
  return row;
}
/** Shows places in texts, the best first if the server ranks them. Opening or picking a place takes only its lines. */
async function found(resource) {
  const { words } = resource;
  const plain = { pattern: '(?i)' + words.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), context: 1 };
  const ranked = await call('search', { pattern: words, mode: 'ranked', context: 1 }).catch(() => undefined);
  const { content = [] } = ranked ?? await call('search', plain);
  at = resource;
  frame(resource);
  const list = document.createElement('ul');
  for (const block of content) {
    const { uri, text, name = uri, mimeType } = (block.type === 'resource' ? block.resource : block) ?? {};
    if (typeof uri !== 'string') continue;
    const row = rowOf({ uri, name, mimeType }, name);
    if (block.type === 'resource' && typeof text === 'string') row.append(element('pre', text.slice(0, 2000), { dir: 'auto' }));
    list.append(row);
  }
  main.append(list.childElementCount > 0 ? list : element('p', 'Nothing was found.'));
}
async function one(resource) {
  const { text, blob, mimeType } = await read(resource.uri);
  at = resource;
  frame(resource);
  if (typeof text === 'string') main.append(element('pre', text.slice(0, 100000), { dir: 'auto' }));
  else if (/^image\/(png|jpeg|gif|webp)$/.test(mimeType) && typeof blob === 'string')
    main.append(Object.assign(new Image(), { alt: resource.name, src: 'data:' + mimeType + ';base64,' + blob.replace(/[^A-Za-z0-9+/=]/g, '') }));
  else main.append(element('p', 'There is no preview of ' + (mimeType ?? 'this') + '.'));
}
function frame(resource) {
  main.replaceChildren();
  const bar = document.createElement('nav');
  if (above.length > 0) {
    const back = element('button', 'Back');
    back.onclick = () => { const last = above.pop(); void show(last, howOf(last)); };
    bar.append(back, ' ');
  }
  bar.append(element('strong', resource.name ?? 'Everything', { dir: 'auto' }));
  if (resource.uri) {
    const use = element('button', 'Use this', { className: 'go' });
    use.onclick = () => void pick(resource);
    bar.append(' ', use);
  }
  const again = element('button', 'Load again');
  again.onclick = () => void show(at, howOf(at));
  bar.append(' ', again);
  main.append(bar);
}
const EVERYTHING = { capabilities: { list: true } };
async function open(uri) {
  if (!uri) return show(EVERYTHING, folder);
  const resource = await call('describe', { uri }).then(({ structuredContent }) => structuredContent?.resource, () => undefined);
  const there = resource ?? { uri, name: uri, capabilities: { list: true } };
  return show(there, howOf(there));
}
document.querySelector('input').onkeydown = ({ key, target }) => {
  const words = target.value.trim();
  if (key !== 'Enter' || words === '') return;
  if (at !== undefined) above.push(at);
  void show({ name: 'Search for ' + words, words }, found);
};
function themed({ theme, styles }) {
  if (theme === 'light' || theme === 'dark') document.documentElement.style.colorScheme = theme;
  for (const name of ['--font-sans', '--font-mono']) {
    const value = styles?.variables?.[name];
    if (typeof value === 'string' && !/url|[;{}]/i.test(value)) document.documentElement.style.setProperty(name, value);
  }
}
addEventListener('message', ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== '2.0') return;
  const { id, method, params, result, error } = data;
  if (method === undefined) {
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error !== undefined) reject?.(new Error(String(error.message ?? 'The host refused it.')));
    else resolve?.(result);
  } else if (method === 'ui/notifications/tool-input') void open(params?.arguments?.uri);
  else if (method === 'ui/notifications/host-context-changed') themed(params ?? {});
  else if (id !== undefined) {
    if (method === 'ping' || method === 'ui/resource-teardown') send({ id, result: {} });
    else send({ id, error: { code: -32601, message: 'Method not found' } });
  }
});
new ResizeObserver(() => {
  const { scrollWidth: width, scrollHeight: height } = document.documentElement;
  send({ method: 'ui/notifications/size-changed', params: { width, height } });
}).observe(document.body);
ask('ui/initialize', {
  protocolVersion: '2026-01-26',
  appInfo: { name: 'vitrine-explorer', version: '1' },
  appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
}).then(({ hostCapabilities = {}, hostContext = {} }) => {
  host = hostCapabilities;
  // A gateway may have put a prefix before the names of all tools.
  prefix = (hostContext.toolInfo?.tool?.name ?? 'browse').replace(/browse$/, '');
  themed(hostContext);
  send({ method: 'ui/notifications/initialized', params: {} });
}, (error) => say(error.message));
`;

/** The HTML5 document. It is the same for every server. */
export const VIEW = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Explorer</title><style>${STYLE}</style></head><body><search><input type="search" aria-label="Search everything" placeholder="Search everything"></search><main></main><p role="status">Connecting ...</p><script>${SCRIPT}</script></body></html>
`;
