/** `vitrine authorize` as a user runs it, and then `vitrine serve`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { vitrine } from '../../cli/here.ts';
import { CLI, connectHttp, ROOT, startHttp } from '../../e2e/harness.ts';
import { until, within } from '../../e2e/waiting.ts';
import { type VisitOptions, visit } from './browser.ts';
import { savedAt } from './client.ts';
import { sceneOfEachTest } from './scene.ts';
import { TEXT } from './servers.ts';

const scene = sceneOfEachTest();

let config: string;

beforeEach(async () => {
  config = await written('vitrine.yaml', {
    mounts: {
      docs: { url: scene.upstream.url, auth: { type: 'oauth' } },
      plain: { url: scene.upstream.url, start: 'lazy' },
    },
  });
});

async function written(name: string, content: unknown): Promise<string> {
  const path = join(scene.state.path, name);
  await writeFile(path, JSON.stringify(content));
  return path;
}

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command without a terminal, and opens the address that it prints. */
async function authorized(path: string, mount: string, options: VisitOptions = {}): Promise<Outcome> {
  const child = spawn(process.execPath, [CLI, 'authorize', path, mount], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  try {
    const address = new Promise<URL>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        stdout += chunk.toString();
        const found = /^(http\S+)\n/m.exec(stdout)?.[1];
        if (found !== undefined) resolve(new URL(found));
      });
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const closed = once(child, 'close') as Promise<[number | null]>;
    const failed = closed.then(([status]) => {
      throw new Error(`vitrine authorize ended with ${status}: ${stderr}`);
    });
    failed.catch(() => {});
    await visit(await within(Promise.race([address, failed]), 'the address to open'), options);
    const [status] = await within(closed, 'the end of vitrine authorize');
    return { status, stdout, stderr };
  } finally {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  }
}

describe('vitrine authorize', () => {
  it('prints an address, gets the tokens when the browser returns, confirms that in one line, and ends', async () => {
    const { status, stdout, stderr } = await authorized(config, 'docs');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.split('\n').filter(Boolean)).toEqual([
      'Open this address in a browser on this machine:',
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/auth\?.*code_challenge_method=S256/),
      `Vitrine is authorized for "docs" at ${scene.upstream.origin}`,
    ]);
    const { tokens } = await savedAt(scene.state);
    expect(stdout).not.toContain(String(tokens?.access_token));
  });

  it('lets a running vitrine serve connect, whose error named this command', async () => {
    const read = { uri: 'docs+memory:///private.txt' };
    await using server = await startHttp([config, '--log-level', 'debug']);
    await using client = await connectHttp('modern', server);
    await expect(client.request('resources/read', read)).rejects.toThrow('vitrine authorize <config> docs');
    await authorized(config, 'docs');
    const found = await until(() => client.request('resources/read', read).catch(() => undefined), 'the resource');
    expect(found).toMatchObject({ contents: [{ text: TEXT }] });
    const { tokens } = await savedAt(scene.state);
    for (const secret of [tokens?.access_token, tokens?.refresh_token]) expect(server.output()).not.toContain(secret);
  });

  it('authorizes a server in the configuration file of a host', async () => {
    const path = await written('mcp.json', {
      servers: { 'My Docs': { type: 'http', url: scene.upstream.url, auth: { type: 'oauth' } } },
      inputs: [],
    });
    expect(await authorized(path, 'my-docs')).toMatchObject({ status: 0 });
  });

  it('fails with one line if the user refuses', async () => {
    expect(await authorized(config, 'docs', { consent: 'refuse' })).toMatchObject({
      status: 1,
      stderr: 'vitrine: The authorization was refused at the authorization server\n',
    });
  });

  it.each([
    ['nothing', 'The configuration has no mount "nothing"; its mounts are docs, plain'],
    ['plain', 'Say auth: { type: oauth } in mount "plain" to authorize it'],
  ])('fails for the mount "%s": %s', async (mount, problem) => {
    expect(await vitrine(['authorize', config, mount])).toEqual({
      status: 2,
      stdout: '',
      stderr: `vitrine: ${problem}\n`,
    });
  });

  it.each([
    [{ path: '.' }, 'has no url, so there is nothing to authorize'],
    ['https://mcp.example/mcp', 'is only a URL; to authorize it, write a block with url and auth: { type: oauth }'],
    [
      { url: 'https://mcp.example/mcp', auth: { type: 'bearer', token: 'mysecret' } },
      'has auth of type bearer: there is nothing to authorize',
    ],
  ])('fails for the mount %j, which %s', async (block, problem) => {
    const path = await written('other.yaml', { mounts: { other: block } });
    expect(await vitrine(['authorize', path, 'other'])).toEqual({
      status: 2,
      stdout: '',
      stderr: `vitrine: Mount "other" ${problem}\n`,
    });
  });
});
