/** Programs whose output is served, as a client sees them. */
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vitrine } from '../cli/here.ts';
import { longSleep, runningCount } from '../processes.ts';
import { drain, failure, metadata, readOne } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, connectStdio, MATRIX, MUSEUM_CONFIG } from './harness.ts';
import { collectNotices, subscribe } from './notices.ts';
import { until } from './waiting.ts';

/** An image of one pixel, as a screenshot program writes it. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const octal = [...PNG].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');

describe.each(MATRIX)('programs over $transport, $era', ({ transport, era }) => {
  const seconds = longSleep();
  let folder: Folder;
  let server: Connected;
  beforeAll(async () => {
    folder = await temporaryFolder({ 'app.log': 'one\ntwo\n', 'web.log': 'web\n' });
    const config = await writeConfig(folder, {
      mounts: {
        live: {
          prefix: 'none',
          run: {
            'load.txt': ['uptime'],
            'screen.png': ['printf', octal],
            'app.log': {
              argv: ['tail', '-n', '2', 'app.log'],
              follow: ['tail', '-n', '1', '-F', folder.at('app.log')],
            },
            'log/{service}.txt': {
              argv: ['cat', '{service}.log'],
              variables: { service: ['web', 'mail'] },
              title: 'The log of a service',
              watch: { everySeconds: 0.05 },
            },
            'fails.txt': ['sh', '-c', 'echo secret >&2; exit 1'],
            'slow.txt': ['sleep', seconds],
          },
        },
      },
    });
    server = await connect(transport, era, [config]);
  });
  afterAll(async () => {
    await server?.close();
    await folder?.[Symbol.asyncDispose]();
  });

  it('are listed as a tree, described, and run when they are read [RES-1, RES-5, 2093-4]', async () => {
    const listed = await drain(server, 'resources/list', { uri: 'command:///' });
    expect(listed.map(({ uri }) => uri)).toEqual(
      ['log', 'app.log', 'fails.txt', 'load.txt', 'screen.png', 'slow.txt'].map((path) => `command:///${path}`),
    );
    expect(await metadata(server, 'command:///log/web.txt')).toMatchObject({
      name: 'web.txt',
      title: 'The log of a service',
      mimeType: 'text/plain',
      capabilities: { list: false, subscribe: true },
    });
    expect((await readOne(server, 'command:///load.txt')).text).toMatch(/load average/);
    expect(await readOne(server, 'command:///screen.png')).toMatchObject({
      mimeType: 'image/png',
      blob: PNG.toString('base64'),
    });
    expect((await readOne(server, 'command:///app.log', { offset: 4, length: 3 })).text).toBe('two');
  });

  it('have templates whose variables are completed, and accept no other values [RES-3]', async () => {
    const { resourceTemplates } = await server.request<{ resourceTemplates: readonly { uriTemplate: string }[] }>(
      'resources/templates/list',
    );
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['command:///log/{service}.txt']);
    const { completion } = await server.request<{ completion: object }>('completion/complete', {
      ref: { type: 'ref/resource', uri: 'command:///log/{service}.txt' },
      argument: { name: 'service', value: 'w' },
    });
    expect(completion).toMatchObject({ values: ['web'], hasMore: false });
    expect((await readOne(server, 'command:///log/web.txt')).text).toBe('web\n');
    for (const value of ['--help', '%2e%2e%2fapp', 'app%00', '$(id)', 'x'])
      expect(await failure(readOne(server, `command:///log/${value}.txt`))).toMatchObject({ code: -32602 });
  });

  it('that fail give an error without details [RES-2]', async () => {
    const error = await failure(readOne(server, 'command:///fails.txt'));
    expect(error).toMatchObject({ code: -32603, data: { uri: 'command:///fails.txt', reason: 'unavailable' } });
    expect(JSON.stringify(error)).not.toContain('secret');
    await until(() => server.stderr().includes('secret'), 'the log to have what the program said');
  });

  it('report changes: of a growing log, and of another output [RES-4]', async () => {
    const notices = await collectNotices(server);
    const subscription = await subscribe(server, ['command:///app.log', 'command:///log/web.txt']);
    await writeFile(folder.at('app.log'), 'three\n', { flag: 'a' });
    await notices.told('command:///app.log');
    expect((await readOne(server, 'command:///app.log')).text).toBe('two\nthree\n');
    await writeFile(folder.at('web.log'), 'changed\n');
    await notices.told('command:///log/web.txt');
    await subscription.end();
    await runningCount(folder.at('app.log'), 0);
  });

  it('end with the server', async () => {
    const asked = failure(readOne(server, 'command:///slow.txt')).catch(() => undefined);
    await runningCount(seconds, 1);
    await server.close();
    await asked;
    await runningCount(seconds, 0);
  });
});

it('the museum has the load of its machine, and its latest visitors [RES-5]', async () => {
  await using museum = await connectStdio('modern', [MUSEUM_CONFIG]);
  expect((await readOne(museum, 'live+command:///load.txt')).text).toMatch(/load average/);
  const log = (await readOne(museum, 'museum+file:///logs/turnstile.log')).text ?? '';
  const latest = (await readOne(museum, 'live+command:///latest-visitors.txt')).text;
  expect(log.endsWith(latest ?? 'nothing')).toBe(true);
});

describe('a mistake in a configuration of programs', () => {
  it.each([
    ['a pattern that is none', { 'a/{x}': { argv: ['echo', '{x}'], variables: { x: '(' } } }, /a\/\{x\}.*RE2/],
    ['a variable that is not there', { 'a/{x}': { argv: ['echo', '{x}'] } }, /a\/\{x\}: Braces in a path/],
    ['no program', { a: [] }, /a program/],
    ['an option that is not there', { a: { argv: ['echo'], timeout: 3 } }, /timeout/],
  ])('is reported in one line: %s', async (_, run, message) => {
    await using folder = await temporaryFolder();
    const { status, stderr } = await vitrine(['check', await writeConfig(folder, { mounts: { live: { run } } })]);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(message) });
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
