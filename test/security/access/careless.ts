/**
 * A careless server, like many: it decodes, resolves and shortens every URI that it gets, and its tools give out everything that it has.
 */
export const CARELESS = `
const files = {
  '/public/a.md': 'open text', '/secret/a.md': 'SECRET text', '/public/listed.md': 'odd text', '/secret.md': 'SECRET too',
};
const uriOf = (path) => 'file://' + path;
const pathOf = (uri) => {
  let text = uri.trim().replace(/[\\t\\r\\n]/g, '');
  for (let round = 0; round < 3; round++) try { text = decodeURIComponent(text); } catch {}
  const path = text.replace(/^file:/i, '').replace(/^\\/\\/(localhost)?(?=\\/)/i, '').replace(/[?#].*$/, '');
  return require('node:path').posix.normalize(path.replaceAll('\\\\', '/')).replace(/^\\/+/, '/').replace(/(?<=.)\\/$/, '');
};
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const block = (path) => ({ type: 'resource', resource: { uri: uriOf(path), mimeType: 'text/markdown', text: files[path] } });
const link = (path) => ({ type: 'resource_link', uri: uriOf(path), name: 'named ' + files[path] });
const methods = {
  initialize: () => ({
    protocolVersion: '2025-06-18', serverInfo: { name: 'careless', version: '1' },
    capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
  }),
  'tools/list': () => ({ tools: ['hand', 'wiki_delete/page', 'fetch'].map((name) => ({ name, inputSchema: { type: 'object' } })) }),
  'prompts/list': () => ({ prompts: [{ name: 'tell' }] }),
  'resources/list': () => ({ resources: [...Object.keys(files).map(uriOf), 'file:///public/x/../listed.md']
    .map((uri) => ({ uri, name: uri, mimeType: 'text/markdown' })) }),
  'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'file:///{+path}', name: 'by path' }] }),
  'completion/complete': () => ({ completion: { values: ['public/a.md', 'secret/a.md'], total: 2, hasMore: false } }),
  'tools/call': ({ name, arguments: given }) => name !== 'hand' ? { content: [{ type: 'text', text: 'called ' + name }] }
    : { content: [{ type: 'text', text: 'before' }, block('/secret/a.md'), link('/secret/a.md'), block('/public/a.md'), link('/public/a.md')] },
  'prompts/get': () => ({ messages: ['/secret/a.md', '/public/a.md'].map((path) => ({ role: 'user', content: block(path) })) }),
  'resources/read': ({ uri }) => {
    const text = files[pathOf(uri)];
    if (text === undefined) throw { code: -32002, message: 'none', data: { uri } };
    return { contents: [{ uri, mimeType: 'text/markdown', text }] };
  },
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  try {
    const run = methods[method];
    if (run === undefined) throw { code: -32601, message: 'none' };
    send({ id, result: run(params ?? {}) });
  } catch (error) {
    send({ id, error });
  }
});`;
