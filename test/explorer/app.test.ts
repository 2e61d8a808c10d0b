/** The explorer as an MCP App: who is offered it, its document, and its way through a gateway. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../e2e/folders.ts';
import { CLI, type Connected, connectHttp, ERAS, type Listening, MUSEUM, startHttp } from '../e2e/harness.ts';

const UI = 'io.modelcontextprotocol/ui';
const URI = 'ui://vitrine/explorer';
const APPS = { capabilities: { extensions: { [UI]: { mimeTypes: ['text/html;profile=mcp-app'] } } } };

interface Tool {
  readonly name: string;
  readonly _meta?: { readonly ui?: object };
}
const toolsOf = async (client: Connected): Promise<readonly Tool[]> =>
  (await client.request<{ tools: readonly Tool[] }>('tools/list')).tools;

describe.each(ERAS)('the explorer as an app, in the era %s', (era) => {
  let server: Listening;

  beforeAll(async () => {
    server = await startHttp([MUSEUM]);
  });

  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  it('is offered to clients that show apps, and invisible to others', async () => {
    await using shows = await connectHttp(era, server, APPS);
    await using plain = await connectHttp(era, server);
    await using other = await connectHttp(era, server, {
      capabilities: { extensions: { [UI]: { mimeTypes: ['text/x'] } } },
    });
    const offered = await toolsOf(shows);
    const usual = await toolsOf(plain);
    expect(offered.filter(({ name }) => name === 'browse')).toMatchObject([{ _meta: { ui: { resourceUri: URI } } }]);
    expect(usual).toEqual(offered.filter(({ name }) => name !== 'browse'));
    expect(await toolsOf(other)).toEqual(usual);
  });

  it('gives a model the results of list and describe', async () => {
    await using client = await connectHttp(era, server, APPS);
    const call = (name: string, args: object) => client.request('tools/call', { name, arguments: args });
    const folder = { uri: 'file:///collection' };
    const file = { uri: 'file:///guide/welcome.md' };
    expect(await call('browse', folder)).toEqual(await call('list', folder));
    expect(await call('browse', file)).toEqual(await call('describe', file));
    expect(await call('browse', {})).toEqual(await call('list', {}));
  });

  it('is one document that loads nothing', async () => {
    await using client = await connectHttp(era, server);
    const { contents } = await client.request<{ contents: readonly Record<string, string>[] }>('resources/read', {
      uri: URI,
    });
    expect(contents).toMatchObject([{ uri: URI, mimeType: 'text/html;profile=mcp-app' }]);
    expect(contents[0]?.text).toMatch(/^<!doctype html>/);
    expect(contents[0]?.text).not.toMatch(/https?:|\bsrc=["']|<link|<iframe|\bfetch\b|XMLHttpRequest|innerHTML/);
  });

  it('passes through a gateway', async () => {
    await using folder = await temporaryFolder({ 'notes/a.md': 'a' });
    const program = { command: process.execPath, args: [CLI, 'serve', MUSEUM] };
    await folder.write('mcp.json', JSON.stringify({ mcpServers: { museum: program } }));
    await using gateway = await startHttp([folder.at('notes'), '--mcp-config', folder.at('mcp.json')]);
    await using client = await connectHttp(era, gateway);
    const uri = 'ui://museum+vitrine/explorer';
    const { contents } = await client.request<{ contents: readonly Record<string, string>[] }>('resources/read', {
      uri,
    });
    expect(contents).toMatchObject([{ uri, mimeType: 'text/html;profile=mcp-app' }]);
  });
});
