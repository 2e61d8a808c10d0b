/** No message to clients contains the secrets that a mounted server was given, whatever that server sends. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { ERAS } from '../e2e/harness.ts';
import { ENVELOPE, INITIALIZE, startStdio } from '../e2e/raw.ts';

const SECRET = 'hidden-from-clients-91c4';
const REFERENCE = `\${VITRINE_TEST_HIDDEN}`;
/** Vitrine writes this in place of a secret in errors, log messages and progress of a mounted server. */
const COVER = '***';

/** A server that repeats its key in every message. */
const TELLTALE = `
const key = process.env.KEY;
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const methods = {
  initialize: () => ({
    protocolVersion: '2025-06-18', serverInfo: { name: 'telltale', version: '1' },
    capabilities: { tools: {}, resources: {}, logging: {} },
  }),
  'logging/setLevel': () => ({}),
  'tools/list': () => ({ tools: [{ name: 'tell', inputSchema: { type: 'object' } }] }),
  'resources/list': () => ({ resources: [{ uri: 'memo:a', name: 'a' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'tools/call': ({ arguments: { how } = {}, _meta = {} }) => {
    const params = { level: 'error', logger: key, data: { [key]: ['the key is ' + key] } };
    send({ method: 'notifications/message', params });
    const { progressToken } = _meta;
    if (progressToken !== undefined)
      send({ method: 'notifications/progress', params: { progressToken, progress: 1, message: 'with ' + key } });
    if (how === 'error') throw { code: -32000, message: 'refused ' + key, data: { [key]: [key] } };
    return { content: [{ type: 'text', text: 'here is ' + key }], isError: how === 'fail' };
  },
  'resources/read': () => { throw { code: -32000, message: 'no ' + encodeURIComponent(key), data: { key } }; },
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

let folder: Folder;
let config: string;
beforeAll(async () => {
  process.env.VITRINE_TEST_HIDDEN = SECRET;
  folder = await temporaryFolder({});
  config = await writeConfig(folder, {
    mounts: { told: { command: process.execPath, args: ['-e', TELLTALE], env: { KEY: REFERENCE } } },
  });
});
afterAll(async () => {
  delete process.env.VITRINE_TEST_HIDDEN;
  await folder[Symbol.asyncDispose]();
});

describe.each(ERAS)('to a client of the %s era', (era) => {
  it('errors, failures, log messages and progress contain no secret [SEC-UTIL-4, SEC-UTIL-6]', async () => {
    await using server = startStdio(era, ['--config', config, '--log-level', 'debug']);
    if (era === 'legacy') {
      await server.request(0, 'initialize', INITIALIZE);
      server.notify('notifications/initialized');
      await server.request(1, 'logging/setLevel', { level: 'debug' });
    }
    const level = { 'io.modelcontextprotocol/logLevel': 'debug' };
    const ask = (id: number, method: string, params: object): Promise<unknown> => {
      const _meta = { ...(era === 'modern' && { ...ENVELOPE, ...level }), progressToken: id };
      server.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })}\n`);
      return server.line((message) => 'id' in message && message.id === id, `the answer to ${id}`);
    };
    const call = (id: number, how: string) => ask(id, 'tools/call', { name: 'told_tell', arguments: { how } });
    expect(await call(10, 'error')).toMatchObject({
      error: { message: `refused ${COVER}`, data: { [COVER]: [COVER] } },
    });
    expect(await call(11, 'fail')).toMatchObject({
      result: { isError: true, content: [{ text: `here is ${REFERENCE}` }] },
    });
    expect(await ask(12, 'resources/read', { uri: 'told+memo:a' })).toMatchObject({
      error: { message: `no ${COVER}`, data: { key: COVER } },
    });
    const said = server.lines.join('\n');
    expect(said).not.toContain(SECRET);
    const logged = server.lines.map((line) => JSON.parse(line)).filter(({ method }) => method !== undefined);
    expect(logged.map(({ method }) => method)).toEqual(
      expect.arrayContaining(['notifications/message', 'notifications/progress']),
    );
    expect(said).toContain(`the key is ${COVER}`);
    expect(said).toContain(`with ${COVER}`);
    expect(server.stderr()).not.toContain(SECRET);
    // Contents stay as they are: the option `redact` covers secrets in them.
    expect(await call(13, 'well')).toMatchObject({ result: { content: [{ text: `here is ${SECRET}` }] } });
  });
});
