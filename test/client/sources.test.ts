/** createResourceClient refuses a source that it cannot use, and says what it takes. */
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';
import { createResourceClient, type ResourceClientSource } from '../../src/client/index.ts';
import { scripted } from './scripted.ts';

const refused = (message: RegExp) => ({
  name: 'ResourceClientError',
  code: 'invalid',
  retryable: false,
  message: expect.stringMatching(message),
});

describe('createResourceClient', () => {
  it('refuses a client of SDK v1, and names the package that it needs', async () => {
    await using server = await scripted({});
    const client = new ClientV1({ name: 'v1', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)) as never);
    const is = refused(/Client of @modelcontextprotocol\/client \(SDK v2\) is needed/);
    try {
      expect(() => createResourceClient(client as never)).toThrow(expect.objectContaining(is));
      await using connecting = createResourceClient(async () => client as never);
      await expect(connecting.read('note:///a')).rejects.toMatchObject(is);
      expect(client.transport).toBeUndefined();
    } finally {
      await client.close();
    }
  });

  it.each<[string, unknown]>([
    ['a text', 'http://127.0.0.1:8931/mcp'],
    ['a URL', new URL('http://127.0.0.1:8931/mcp')],
    ['a command', { command: 'node' }],
    ['null', null],
    ['nothing', undefined],
  ])('refuses %s, and says what it takes', (_what, source) => {
    expect(() => createResourceClient(source as ResourceClientSource)).toThrow(
      expect.objectContaining(refused(/^A source is \{ url: .*SDK v2.*connectResourceClient/)),
    );
  });

  it.each(['nonsense', '', '/mcp', 'localhost:8931/mcp', 'ftp://127.0.0.1/mcp', 'http://'])(
    'refuses the URL "%s"',
    (url) => {
      expect(() => createResourceClient({ url })).toThrow(expect.objectContaining(refused(/^url is an absolute URL/)));
    },
  );
});
