/**
 * Facts about the MCP SDK that Vitrine relies on and that no type promises. If an update changes one, this test fails first and names
 * it.
 */
import {
  Client,
  InMemoryTransport,
  ProtocolErrorCode,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/client';
import {
  createMcpHandler,
  isLegacyRequest,
  SERVER_INFO_META_KEY,
  Server,
  SUBSCRIPTION_ID_META_KEY,
} from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { INTERNAL_ERROR, INVALID_PARAMS, LEGACY_RESOURCE_NOT_FOUND } from '../../src/protocol/error-codes.ts';

const loose = z.looseObject({});

/** A resource with every field, and some unknown ones. */
const ITEM = {
  uri: 'a:b',
  name: 'name',
  title: 'title',
  description: 'description',
  size: 3,
  mimeType: 'text/plain',
  icons: [{ src: 'data:,' }],
  annotations: { priority: 1, unknown: 1 },
  capabilities: { list: false, subscribe: true },
  _meta: { key: 1 },
  unknown: 1,
};

const PARAMS = { uri: 'a:b', unknown: 1, _meta: { key: 1 } };

/** A server with these handlers and a client of the 2025 era, in one process. */
async function pair(prepare: (server: Server) => void): Promise<Client> {
  const server = new Server({ name: 'server', version: '1' }, { capabilities: { resources: {} } });
  prepare(server);
  const [here, there] = InMemoryTransport.createLinkedPair();
  await server.connect(there);
  const client = new Client({ name: 'client', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
  await client.connect(here);
  return client;
}

describe('handlers of the SDK’s server', () => {
  it('get every parameter if they are registered with their own schemas', async () => {
    const seen: unknown[] = [];
    const client = await pair((server) =>
      server.setRequestHandler('resources/list', { params: loose, result: loose }, async (params) => {
        seen.push(params);
        return { resources: [] };
      }),
    );
    await client.request({ method: 'resources/list', params: PARAMS }, loose);
    expect(seen).toEqual([PARAMS]);
    await client.close();
  });

  it('lose unknown parameters if they are registered without schemas', async () => {
    const seen: unknown[] = [];
    const client = await pair((server) =>
      server.setRequestHandler('resources/list', async (request) => {
        seen.push(request);
        return { resources: [] };
      }),
    );
    await client.request({ method: 'resources/list', params: PARAMS }, loose);
    expect(seen).toEqual([{ method: 'resources/list', params: { _meta: { key: 1 } } }]);
    await client.close();
  });
});

describe('results through the SDK', () => {
  const answering = (): Promise<Client> =>
    pair((server) => {
      const schemas = { params: loose, result: loose };
      server.setRequestHandler('resources/list', schemas, async () => ({ resources: [ITEM], unknown: 1 }));
      server.setRequestHandler('resources/read', schemas, async () => ({
        contents: [{ ...ITEM, text: 'abc' }],
        unknown: 1,
      }));
    });

  it('are sent with every field, and arrive with every field if the schema is loose', async () => {
    const client = await answering();
    const list = await client.request({ method: 'resources/list' }, loose);
    expect(list).toEqual({ resources: [ITEM], unknown: 1 });
    const read = await client.request({ method: 'resources/read', params: { uri: 'a:b' } }, loose);
    expect(read).toEqual({ contents: [{ ...ITEM, text: 'abc' }], unknown: 1 });
    await client.close();
  });

  it('lose capabilities and unknown fields in the typed list', async () => {
    const client = await answering();
    const { resources } = await client.listResources();
    const { capabilities: _capabilities, unknown: _unknown, ...known } = ITEM;
    expect(resources).toEqual([{ ...known, annotations: { priority: 1 } }]);
    await client.close();
  });

  it('lose all but URI, type, _meta and content in the typed read', async () => {
    const client = await answering();
    const { contents } = await client.readResource({ uri: 'a:b' });
    expect(contents).toEqual([{ uri: 'a:b', mimeType: 'text/plain', _meta: { key: 1 }, text: 'abc' }]);
    await client.close();
  });
});

describe('the SDK', () => {
  it('has the same error codes as Vitrine', () => {
    expect(ProtocolErrorCode).toMatchObject({
      ParseError: -32700,
      InvalidRequest: -32600,
      MethodNotFound: -32601,
      InvalidParams: INVALID_PARAMS,
      InternalError: INTERNAL_ERROR,
      ResourceNotFound: LEGACY_RESOURCE_NOT_FOUND,
    });
  });

  it('speaks these revisions of the 2025 era', () => {
    expect(SUPPORTED_PROTOCOL_VERSIONS).toEqual(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']);
  });

  it('accepts messages of up to 10 MiB over stdio, so that the base64 of a read up to the default limit fits', () => {
    expect(STDIO_DEFAULT_MAX_BUFFER_SIZE).toBe(10 * 1024 * 1024);
  });

  it('names the keys of _meta', () => {
    expect(SERVER_INFO_META_KEY).toBe('io.modelcontextprotocol/serverInfo');
    expect(SUBSCRIPTION_ID_META_KEY).toBe('io.modelcontextprotocol/subscriptionId');
  });
});

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const NEW = { 'mcp-protocol-version': '2026-07-28' };

function post(method: string, params: object, headers: Record<string, string> = {}): Request {
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
}

const other = (method: string, headers: Record<string, string> = {}): Request =>
  new Request('http://localhost/mcp', { method, headers });

describe('isLegacyRequest', () => {
  it.each([
    ['a request with the envelope', post('resources/list', { _meta: ENVELOPE }, NEW), false],
    ['a request with the envelope and no header', post('resources/list', { _meta: ENVELOPE }), false],
    ['a header of the 2026 era without the envelope', post('resources/list', {}, NEW), false],
    ['initialize', post('initialize', {}), true],
    ['a request with neither envelope nor header', post('resources/list', {}), true],
    [
      'a request with a header of the 2025 era',
      post('resources/list', {}, { 'mcp-protocol-version': '2025-11-25' }),
      true,
    ],
    ['server/discover without the envelope', post('server/discover', {}), true],
    ['GET', other('GET'), true],
    ['GET with a header of the 2026 era', other('GET', NEW), true],
    ['DELETE', other('DELETE'), true],
  ])('recognises the era of %s', async (_, request, legacy) => {
    expect(await isLegacyRequest(request)).toBe(legacy);
  });
});

describe('createMcpHandler', () => {
  const handler = createMcpHandler(
    () => {
      const server = new Server(
        { name: 's', version: '1', icons: [{ src: 'data:,' }] },
        { capabilities: { resources: {} } },
      );
      server.setRequestHandler('resources/list', { params: loose, result: loose }, async (params) => ({ params }));
      return server;
    },
    { legacy: 'reject' },
  );

  it('adds type, cache hints and the whole identity of the server to a result', async () => {
    const headers = { ...NEW, 'mcp-method': 'resources/list' };
    const response = await handler.fetch(post('resources/list', { uri: 'a:b', _meta: ENVELOPE }, headers));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        params: { uri: 'a:b' },
        resultType: 'complete',
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { [SERVER_INFO_META_KEY]: { name: 's', version: '1', icons: [{ src: 'data:,' }] } },
      },
    });
  });

  it('answers an unknown method with 404 and the error in the body', async () => {
    const response = await handler.fetch(post('unknown', { _meta: ENVELOPE }, { ...NEW, 'mcp-method': 'unknown' }));
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: -32601 } });
  });

  it.each([
    ['without Mcp-Method', {}],
    ['with another Mcp-Method', { 'mcp-method': 'resources/list' }],
    ['without Mcp-Name', { 'mcp-method': 'resources/read' }],
    ['with another Mcp-Name', { 'mcp-method': 'resources/read', 'mcp-name': 'x:y' }],
  ])('refuses a read %s, because headers and body have to agree', async (_, headers) => {
    const response = await handler.fetch(
      post('resources/read', { uri: 'a:b', _meta: ENVELOPE }, { ...NEW, ...headers }),
    );
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: -32020 } });
  });
});
