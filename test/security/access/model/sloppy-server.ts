/**
 * A careless server to be mounted. It decodes URIs, twice if need be; finds a file whatever the case, host, dots or doubled slashes in
 * the URI; and returns contents under the requested URI.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Data = Readonly<Record<string, unknown>>;

/** One resource of the server. */
export interface SloppyThing {
  /** The URI, as lists show it. */
  readonly uri: string;
  readonly listed: boolean;
  readonly title: string;
  readonly text: string;
  readonly mimeType: string;
  /** The URIs of other contents that a read returns as well. */
  readonly with?: readonly string[] | undefined;
}

export interface SloppyOptions {
  readonly name: string;
  readonly things: readonly SloppyThing[];
  /** The URIs that its tool `embed` and its prompt `brief` return, in these spellings. */
  readonly handedOut: readonly string[];
  /** The text in results of its tools and prompts. */
  readonly said: string;
}

export interface SloppyServer extends AsyncDisposable {
  readonly url: string;
}

/** Gives the key by which a careless server looks up a URI. */
export function sloppyKey(uri: string): string {
  let path = uri.replace(/[?#].*$/s, '');
  for (let round = 0; round < 2; round++) path = decoded(path);
  const [, scheme = '', rest = ''] = /^([^:/]*):(.*)$/s.exec(path) ?? ['', '', path];
  if (!rest.startsWith('/')) return `${scheme.toLowerCase()}:${rest}`;
  const [, host = '', below = ''] = /^\/\/([^/]*)(.*)$/s.exec(rest) ?? ['', '', rest];
  const names: string[] = [];
  for (const name of below.split(/[/\\]/)) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  const place = host.toLowerCase() === 'localhost' ? '' : host.toLowerCase();
  return `${scheme.toLowerCase()}://${place}/${names.join('/')}`.normalize('NFC');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export async function sloppyServer(options: SloppyOptions): Promise<SloppyServer> {
  const server = createServer((request, response) => {
    void serve(options, request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function serve(options: SloppyOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const {
    id,
    method,
    params = {},
  } = JSON.parse(Buffer.concat(chunks).toString()) as {
    readonly id?: number;
    readonly method: string;
    readonly params?: Data;
  };
  if (id === undefined) return void response.writeHead(202).end();
  const result = answerTo(options, method, params);
  const answer =
    result === undefined
      ? { error: { code: -32_601, message: `There is no method ${method}` } }
      : 'code' in result
        ? { error: result }
        : { result };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
}

function answerTo({ name, things, handedOut, said }: SloppyOptions, method: string, params: Data): Data | undefined {
  const find = (uri: string): SloppyThing | undefined => things.find((each) => sloppyKey(each.uri) === sloppyKey(uri));
  const described = ({ uri, title, mimeType }: SloppyThing): Data => ({ uri, name: title, title, mimeType });
  const blocks = (): readonly Data[] =>
    handedOut.flatMap((uri) => {
      const thing = things.find((each) => each.uri === uri) ?? find(uri);
      if (thing === undefined) return [];
      const { title, text, mimeType } = thing;
      return [
        { type: 'resource', resource: { uri, mimeType, text } },
        { type: 'resource_link', uri, name: title, mimeType },
      ];
    });
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-11-25',
        capabilities: { resources: {}, tools: {}, prompts: {}, completions: {} },
        serverInfo: { name, version: '1.0.0' },
      };
    case 'ping':
      return {};
    case 'resources/list':
      return { resources: things.filter(({ listed }) => listed).map(described) };
    case 'resources/templates/list':
      return { resourceTemplates: TEMPLATES.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })) };
    case 'resources/read': {
      const uri = String(params.uri);
      // A thing is found by its exact URI first, even if another thing has the same key.
      const thing = things.find((each) => each.uri === uri) ?? find(uri);
      if (thing === undefined) return { code: -32_002, message: 'No such file' };
      const others = (thing.with ?? []).flatMap((each) => find(each) ?? []);
      return {
        contents: [
          { uri, mimeType: thing.mimeType, text: thing.text },
          ...others.map(({ uri: other, mimeType, text }) => ({ uri: other, mimeType, text })),
        ],
      };
    }
    case 'completion/complete': {
      const { ref, argument, context } = params as unknown as Completion;
      if (ref.type !== 'ref/resource') return { completion: { values: [`${said} completed`], hasMore: false } };
      if (ref.uri === PAIRS) {
        const known = Object.entries(context?.arguments ?? {});
        const pairs = things.map(({ uri }) => pairOf(uri)).filter((pair) => pair !== undefined);
        const fitting = pairs.filter((pair) => known.every(([variable, value]) => pair[variable] === value));
        const values = [...new Set(fitting.map((pair) => pair[argument.name] ?? ''))].filter((each) =>
          each.startsWith(argument.value),
        );
        return { completion: { values, total: values.length, hasMore: false } };
      }
      const start = String(ref.uri).replace(/\{.*$/, '');
      const values = things
        .filter(({ uri }) => uri.startsWith(start))
        .map(({ uri }) => uri.slice(start.length))
        .filter((each) => each.startsWith(argument.value));
      return { completion: { values, total: values.length, hasMore: false } };
    }
    case 'tools/list':
      return { tools: SLOPPY_TOOLS.map((tool) => ({ name: tool, inputSchema: { type: 'object' } })) };
    case 'tools/call':
      if (!SLOPPY_TOOLS.includes(String(params.name))) return { code: -32_602, message: 'No such tool' };
      return { content: [{ type: 'text', text: said }, ...(params.name === 'embed' ? blocks() : [])] };
    case 'prompts/list':
      return { prompts: SLOPPY_PROMPTS.map((prompt) => ({ name: prompt, arguments: [{ name: 'who' }] })) };
    case 'prompts/get':
      if (!SLOPPY_PROMPTS.includes(String(params.name))) return { code: -32_602, message: 'No such prompt' };
      return {
        messages: [
          { role: 'user', content: { type: 'text', text: said } },
          ...(params.name === 'brief' ? blocks().map((content) => ({ role: 'user', content })) : []),
        ],
      };
    default:
      return undefined;
  }
}

/** A template of two variables: a folder, and the name of a file in it. */
const PAIRS = 'file:///srv/{folder}/{name}';
export const TEMPLATES = ['file:///srv/{+path}', 'memo:{id}', PAIRS];

/** The values of its variables for a URI; undefined for a URI that does not match. */
export const pairOf = (uri: string): Readonly<Record<string, string>> | undefined =>
  /^(?:up\+)?file:\/\/\/srv\/(?<folder>[\w-]+)\/(?<name>[\w.-]+)$/.exec(uri)?.groups;

interface Completion {
  readonly ref: Data;
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> };
}

export const SLOPPY_TOOLS = ['embed', 'fetch', 'delete/page', 'list/all'];
export const SLOPPY_PROMPTS = ['brief', 'tell', 'ask/twice'];
