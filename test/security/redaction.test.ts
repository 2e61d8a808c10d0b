/** Secrets in contents do not leave the server, whatever the way of reading. */
import { describe, expect, it } from 'vitest';
import { failure, type ReadAnswer, read } from '../e2e/answers.ts';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { CLI, type Connected, connect, DIAGONAL, type Era, type TransportKind } from '../e2e/harness.ts';

// Joined here, so that a scan of the sources for secrets finds none.
const TOKEN = `gh${'p_'}abcdefghijklmnopqrstuvwxyz0123456789`;
const KEY = `AKIA${'QYLPMN5HTXSPQZRA'}`;
const PEM = [
  `-----BEGIN RSA ${'PRIVATE KEY'}-----`,
  `MIIEowIBAAKCAQEA${'x'.repeat(48)}`,
  ...Array.from({ length: 10 }, () => 'aBcD0123'.repeat(8)),
  `-----END RSA ${'PRIVATE KEY'}-----`,
].join('\n');
const SECRETS = [TOKEN, KEY, 'aBcD0123aBcD0123'];

const FILES = {
  'env.txt': `first line\ntoken ${TOKEN} it is\nid ${KEY}\nlast line\n`,
  'keys/id.txt': `${PEM}\n`,
  'keys/plain.txt': 'nothing in here\n',
  'big.txt': `${'filler, line after line\n'.repeat(4_000)}token ${TOKEN} it is\n${'more of it\n'.repeat(4_000)}`,
  'image.png': Buffer.concat([
    Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
    Buffer.from(`tEXtComment\0${TOKEN}\0`),
  ]),
};

interface Scene extends AsyncDisposable {
  readonly on: Connected;
  readonly folder: Folder;
}

async function start(transport: TransportKind, era: Era, redact: unknown): Promise<Scene> {
  const folder = await temporaryFolder();
  for (const [name, content] of Object.entries(FILES)) await folder.write(`data/${name}`, content);
  await folder.write('prompts/own.md', `---\ndescription: Its own text\n---\nUse ${TOKEN} for it.\n`);
  await folder.write('prompts/show.md', '---\ndescription: Shows\n---\n{{resource data+file:///env.txt}}\n');
  const upstream = await writeConfig(
    folder,
    { mounts: { far: { path: './upstream' } }, prompts: './far-prompts' },
    'far/vitrine.yaml',
  );
  await folder.write('far/upstream/env.txt', FILES['env.txt']);
  await folder.write('far/far-prompts/tell.md', `---\ndescription: Tells\n---\nUse ${TOKEN} for it.\n`);
  const config = await writeConfig(folder, {
    mounts: { data: './data', up: { command: process.execPath, args: [CLI, 'serve', '--config', upstream] } },
    prompts: './prompts',
    redact,
  });
  const on = await connect(transport, era, [config]);
  return {
    on,
    folder,
    async [Symbol.asyncDispose]() {
      await on.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** All output of the server, and the decoded base64 in it. */
function said(on: Connected): string {
  const all = JSON.stringify(on.received);
  const decoded = [...all.matchAll(/"(?:blob|base64|data)":"([A-Za-z0-9+/=]+)"/g)].map(([, data = '']) =>
    Buffer.from(data, 'base64').toString('latin1'),
  );
  return [all, ...decoded].join('\n');
}

function expectNoSecret(on: Connected): void {
  const all = said(on);
  for (const secret of SECRETS) expect(all.includes(secret), `${secret.slice(0, 4)}… was sent`).toBe(false);
}

interface ToolAnswer {
  readonly content: readonly { readonly text?: string; readonly resource?: { text?: string } }[];
  readonly structuredContent?: { readonly matches?: readonly unknown[] };
  readonly isError?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

const call = (on: Connected, name: string, args: object): Promise<ToolAnswer> =>
  on.request('tools/call', { name, arguments: args });

describe.each(DIAGONAL)('with redact: on, over $transport, $era', ({ transport, era }) => {
  it('reads, windows, lines, folders and binary files have covers of the length of the secret', async () => {
    await using scene = await start(transport, era, 'on');
    const { on } = scene;
    const [whole] = await read(on, 'data+file:///env.txt');
    expect(whole?.text).toBe(
      `first line\ntoken [redacted: github-token]${'*'.repeat(16)} it is\nid [redacted: aws-key]*\nlast line\n`,
    );
    expect(whole).toMatchObject({
      size: FILES['env.txt'].length,
      _meta: { 'vitrine/redacted': { 'github-token': 1, 'aws-key': 1 } },
    });
    const [line] = await read(on, 'data+file:///env.txt#L2');
    expect(line?.text).toMatch(/^token \[redacted: github-token\]\*+ it is\n$/);
    const { contents } = await on.request<ReadAnswer>('resources/read', { uri: 'data+file:///keys' });
    expect(contents.map((item) => item.text?.slice(0, 8))).toEqual(['[redacte', 'nothing ']);
    await read(on, 'data+file:///image.png');

    const at = FILES['big.txt'].indexOf(TOKEN);
    const [big] = await read(on, 'data+file:///big.txt');
    for (const [offset, length] of [
      [at - 5, 20],
      [at + 3, 5],
      [at + 20, 30],
    ] as const) {
      const [part] = await read(on, 'data+file:///big.txt', { offset, length });
      expect(part?.text).toBe(big?.text?.slice(offset, offset + length));
    }
    expectNoSecret(on);
  });

  it('reading tools cover what a read covers, and search reveals no secret', async () => {
    await using scene = await start(transport, era, 'on');
    const { on } = scene;
    const uri = 'data+file:///env.txt';
    await call(on, 'read', { uri });
    await call(on, 'read', { uri, as: 'plain' });
    await call(on, 'read', { uri, as: 'window', start_offset: 20, max_bytes: 30 });
    await call(on, 'read_embedded', { uri });
    await call(on, 'read', { uri: 'data+file:///keys' });
    const found = await call(on, 'search', { pattern: '^token', uri: 'data+file:///' });
    expect(found.structuredContent?.matches).toHaveLength(2);
    expect(JSON.stringify(found.content)).toContain('[redacted: github-token]');
    for (const guess of [`token ${TOKEN.slice(0, 6)}`, TOKEN.slice(0, 8), 'ghp_[a-c]+', 'aBcD', 'AKIA.*'])
      expect(
        (await call(on, 'search', { pattern: guess, uri: 'data+file:///' })).structuredContent?.matches,
        guess,
      ).toEqual([]);
    await on.request('prompts/get', { name: 'show' });
    expectNoSecret(on);
  });

  it('results of mounted servers are scanned: resources, results of tools, prompts [SEC-PROMPT-5]', async () => {
    await using scene = await start(transport, era, 'on');
    const { on } = scene;
    const [item] = await read(on, 'up+far+file:///env.txt');
    expect(item?._meta).toMatchObject({ 'vitrine/redacted': { 'github-token': 1, 'aws-key': 1 } });
    const result = await call(on, 'up_read', { uri: 'up+far+file:///env.txt' });
    expect(result.isError).not.toBe(true);
    expect(result._meta).toMatchObject({ 'vitrine/redacted': { 'github-token': 1, 'aws-key': 1 } });
    expect(JSON.stringify(result.content)).toContain('[redacted: github-token]');
    const prompt = await on.request('prompts/get', { name: 'up_tell' });
    expect(JSON.stringify(prompt)).toContain('[redacted: github-token]');
    const own = await on.request('prompts/get', { name: 'own' });
    expect(JSON.stringify(own)).toContain('[redacted: github-token]');
    expectNoSecret(on);
  });

  it('with refuse, resources with a secret are not given, and others are', async () => {
    await using scene = await start(transport, era, { action: 'refuse', except: ['data+file:///keys/**'] });
    const { on } = scene;
    const refused = await failure(on.request('resources/read', { uri: 'data+file:///env.txt' }));
    expect(refused.data).toMatchObject({ reason: 'denied', secrets: { 'github-token': 1, 'aws-key': 1 } });
    const ofTool = await failure(call(on, 'up_read', { uri: 'up+far+file:///env.txt' }));
    expect(ofTool.data).toMatchObject({ reason: 'denied', secrets: { 'github-token': 1, 'aws-key': 1 } });
    expect((await read(on, 'data+file:///big.txt', { offset: 0, length: 6 }))[0]?.text).toBe('filler');
    expect((await call(on, 'search', { pattern: '^token', uri: 'data+file:///' })).structuredContent?.matches).toEqual(
      [],
    );
    expectNoSecret(on);
    expect((await read(on, 'data+file:///keys/id.txt'))[0]?.text).toBe(`${PEM}\n`);
  });
});
