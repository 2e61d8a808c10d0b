/** `vitrine ./docs`: over HTTP to the person who types it, over standard input and output to the host that starts it. */
import { copyFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { explainFailure } from '../../src/cli/errors.ts';
import { runProgram } from '../../src/cli/program.ts';
import { createResourceClient } from '../../src/client/index.ts';
import { createSecrets } from '../../src/config/secrets.ts';
import { temporaryFolder } from '../e2e/folders.ts';
import { MUSEUM } from '../e2e/harness.ts';
import { http, INITIALIZE, JSON_HEADERS } from '../e2e/raw.ts';
import { until, within } from '../e2e/waiting.ts';

interface Running extends AsyncDisposable {
  readonly input: PassThrough;
  /** The standard output so far. */
  output(): string;
}

/** Runs the command in this process. @param person whether standard input is a terminal */
function start(args: readonly string[], person: boolean): Running {
  const input = Object.assign(new PassThrough(), { isTTY: person });
  const output = new PassThrough();
  const errors = new PassThrough().resume();
  let said = '';
  output.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  let stop = (): void => {};
  const signalled = new Promise<'stopped'>((resolve) => {
    stop = () => resolve('stopped');
  });
  const stopping = { signalled, begin: () => {} };
  const terminal = { input, output, errors, takeSignals: () => stopping, exit: () => {} };
  const ended = runProgram(args, createSecrets(), terminal).catch((error: unknown) => {
    said += explainFailure(error).line;
  });
  return {
    input,
    output: () => said,
    async [Symbol.asyncDispose]() {
      stop();
      await within(ended, 'the end of the command');
    },
  };
}

const endpointOf = (running: Running): Promise<URL> =>
  until(() => {
    const url = /Endpoint: (\S+)/.exec(running.output())?.[1];
    return url === undefined ? undefined : new URL(url);
  }, `the endpoint in ${running.output()}`);

const handshake = { jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE };

describe('typed by a person', () => {
  it('serves over HTTP, each command at the next free port', async () => {
    await using first = start([MUSEUM], true);
    const one = await endpointOf(first);
    await using second = start([`${MUSEUM}/README.md`], true);
    const two = await endpointOf(second);
    expect(one.hostname).toBe('127.0.0.1');
    expect(Number(one.port)).toBeGreaterThanOrEqual(8_931);
    expect(Number(two.port)).toBeGreaterThan(Number(one.port));
    for (const { href } of [one, two]) {
      const { status } = await http(href, { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify(handshake) });
      expect(status).toBe(200);
    }
  });

  it('serves a name without a slash, and at the typed port', async () => {
    await using running = start(['docs', '--port', '0'], true);
    expect(await endpointOf(running)).toBeInstanceOf(URL);
    expect(running.output()).toContain('docs');
  });

  it('serves the servers of a file with mcpServers, also without serve', async () => {
    await using folder = await temporaryFolder({
      'mine.json': JSON.stringify({ mcpServers: { away: { url: 'http://127.0.0.1:9/mcp' } } }),
    });
    await using running = start([folder.at('mine.json'), '--port', '0'], true);
    await endpointOf(running);
    expect(running.output()).toMatch(/^ {2}away {2}/m);
  });

  it('serves the contents of databases in the folder with --nested, and refuses --nested for a configuration', async () => {
    await using folder = await temporaryFolder({ 'vitrine.yaml': 'mounts:\n  docs: .\n' });
    await copyFile(new URL('../../examples/registrar.sqlite', import.meta.url), folder.at('shop.sqlite'));
    await using running = start([folder.path, '--nested', '--port', '0'], true);
    const { href } = await endpointOf(running);
    await using client = createResourceClient({ url: href });
    const { primary } = await client.read('file:///shop.sqlite/makers/1');
    expect(primary?.text()).toContain('Hollis & Dray');
    await using refused = start([folder.at('vitrine.yaml'), '--nested'], true);
    await until(() => refused.output().includes('--nested are for paths'), 'the refusal');
  });

  it('serves a file with mounts as a document with --as-document', async () => {
    await using folder = await temporaryFolder({ 'team.yaml': 'mounts:\n  docs: ./docs\n' });
    await using refused = start([folder.at('team.yaml')], true);
    await until(() => refused.output().includes('--as-document'), 'the refusal');
    await using running = start([folder.at('team.yaml'), '--as-document', '--port', '0'], true);
    await endpointOf(running);
  });
});

it('serves over standard input and output to the host that starts it', async () => {
  await using running = start([MUSEUM], false);
  running.input.write(`${JSON.stringify(handshake)}\n`);
  await until(() => running.output().includes('\n'), 'an answer');
  expect(JSON.parse(running.output())).toMatchObject({ id: 1, result: { serverInfo: {} } });
});
