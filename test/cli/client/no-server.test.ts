/**
 * A program or URL that is no MCP server, for the client library, for a mount of a gateway, and for the commands. Each says in
 * one sentence what was seen and what to try; clients of a gateway learn only that the server is away.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectResourceClient, parseCommandLine } from '../../../src/client/node/index.ts';
import { type Folder, temporaryFolder, writeConfig } from '../../e2e/folders.ts';
import { until } from '../../e2e/waiting.ts';
import { gather, setScene } from '../../gateway/faults/scene.ts';
import { UNSAFE } from './odd.ts';
import { run } from './run.ts';

const ENDPOINT = String.raw`; is that the address of its MCP endpoint, as in \.\.\./mcp\?`;
const PROGRAM = String.raw`; does it serve MCP over stdio, or need an argument for that\?`;

/** Answers of web servers that are no MCP servers, by path. */
const PAGES: Readonly<Record<string, readonly [number, string, string]>> = {
  '/page': [200, 'text/html', '<!doctype html><title>Welcome</title>'],
  '/half': [200, 'application/json', '{"jsonrpc":"2.0","id":'],
  '/none': [404, 'text/html', '<h1>Not Found</h1>'],
};

/** A program that frames its messages as a language server does, and understands no others. */
const LANGUAGE_SERVER = `process.stdin.on('data', () => {
  const text = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'No header' } });
  process.stdout.write('Content-Length: ' + text.length + '\\r\\n\\r\\n' + text);
});`;

const web = createServer((request, response) => {
  const [status, type, body] = PAGES[String(request.url)] ?? [500, 'text/plain', ''];
  response.writeHead(status, { 'content-type': type }).end(body);
});
let folder: Folder;

beforeAll(async () => {
  await once(web.listen(0, '127.0.0.1'), 'listening');
  folder = await temporaryFolder({ 'folder/': '', 'language.cjs': LANGUAGE_SERVER });
});
afterAll(async () => {
  web.closeAllConnections();
  web.close();
  await folder[Symbol.asyncDispose]();
});

const page = (path: string) => (): string => `http://127.0.0.1:${(web.address() as AddressInfo).port}${path}`;

/** Names, how each is typed, a pattern for what was seen and what to try, and words of what `doctor` says. */
const ROWS: readonly (readonly [string, () => string, string, string])[] = [
  [
    'a page',
    page('/page'),
    `its answer is not an MCP message${ENDPOINT}`,
    'HTTP 200 without a message; is that the address',
  ],
  [
    'half of JSON',
    page('/half'),
    `its answer is not an MCP message${ENDPOINT}`,
    'HTTP 200 without a message; is that the address',
  ],
  [
    'nothing at this path',
    page('/none'),
    `it answers with the HTTP status 404${ENDPOINT}`,
    'HTTP 404 without a message; is that the address',
  ],
  [
    'a language server',
    () => `"${process.execPath}" "${folder.at('language.cjs')}"`,
    String.raw`in [\d.]+ s it wrote "Content-Length: \d+\\r", which is not an MCP message${PROGRAM}`,
    'wrote "Content-Length: 73',
  ],
  [
    'a folder',
    () => `"${folder.at('folder')}" --stdio`,
    String.raw`it cannot be started \(EACCES\): it is a folder, or`,
    'EACCES',
  ],
];

/** A target as the library and configurations have it. */
const targetOf = (typed: string) => (typed.startsWith('http') ? { url: typed } : parseCommandLine(typed));

describe.each(ROWS)('%s', (_, typed, seen, diagnosed) => {
  it('makes the library fail with a message that says once what was seen', async () => {
    const connecting = connectResourceClient({ ...targetOf(typed()), connectTimeoutMs: 2_000 });
    const error = await connecting.then(
      () => undefined,
      (failure: Error) => failure,
    );
    expect(error?.message).toMatch(new RegExp(`^(The server cannot be reached|Connecting took too long): ${seen}`));
    expect(error?.message.match(new RegExp(seen, 'g'))).toHaveLength(1);
  });

  it.each(['ls', 'stat'])('%s says in one line what was seen', async (command) => {
    const { status, stderr } = await run([command, typed(), '--timeout', '2']);
    expect(stderr).toMatch(new RegExp(`^vitrine: [^\n]+: ${seen}[^\n]*\n$`));
    expect(stderr.match(new RegExp(seen, 'g'))).toHaveLength(1);
    expect(stderr).not.toMatch(UNSAFE);
    expect([5, 6]).toContain(status);
  });

  it('doctor says what was seen', async () => {
    const { status, stdout, stderr } = await run(['doctor', typed(), '--timeout', '2']);
    expect(stdout + stderr).toContain(diagnosed);
    expect(stdout + stderr).not.toMatch(UNSAFE);
    expect(status).not.toBe(0);
  });

  it('check says what was seen of the mount', async () => {
    const mounts = { odd: { ...targetOf(typed()), connectTimeoutSeconds: 2 } };
    const { status, stdout } = await run(['check', '--config', await writeConfig(folder, { mounts })]);
    expect(stdout).toMatch(new RegExp(`^not reached  odd  [^\n]+: ${seen}[^\n]*\n$`, 'm'));
    expect(status).toBe(1);
  });

  it('is only unavailable for clients of a gateway', async () => {
    const target = targetOf(typed());
    await using scene = await setScene(
      { transport: 'stdio', era: 'legacy' },
      { subscribed: false, hurried: true, target },
    );
    for (const client of scene.clients) {
      const reason = await until(async () => {
        const { faulty } = (await gather(client)).missing;
        return faulty !== undefined && !/starting|not answered yet/.test(faulty) && faulty;
      }, 'the reason');
      expect(reason).toMatch(
        /^The server behind "faulty" (cannot be reached now|did not answer in time|refuses to be connected to)$/,
      );
    }
  });
});
