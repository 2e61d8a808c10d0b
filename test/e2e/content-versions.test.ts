/** Versions of contents, and reads that return contents only if the client has another version. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createResourceClient } from '../../src/client/index.ts';
import { scene } from '../../src/testing/git-scene.ts';
import { content, startSite } from '../providers/http/site.ts';
import { failure, type Item } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { CLI, type Connected, connect, DIAGONAL, MATRIX, startHttp } from './harness.ts';
import { until } from './waiting.ts';

interface Answer {
  readonly contents: readonly Item[];
  readonly ttlMs?: number;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

type Meta = Readonly<Record<string, unknown>>;

const ask = (on: Connected, uri: string, _meta?: Meta): Promise<Answer> =>
  on.request<Answer>('resources/read', { uri, ...(_meta !== undefined && { _meta }) });

const versionsIn = ({ contents }: Answer): readonly unknown[] =>
  contents.map(({ _meta }) => _meta?.['vitrine/version']);

const notModified = (answer: Answer): boolean =>
  answer._meta?.['vitrine/notModified'] === true && answer.contents.length === 0;

/** Reads until the file has been unchanged for as long as a version needs. */
async function settled(on: Connected, uri: string, _meta?: Meta): Promise<Answer> {
  let answer = await ask(on, uri, _meta);
  await until(async () => {
    answer = await ask(on, uri, _meta);
    return versionsIn(answer).every((version) => version !== undefined);
  }, 'contents with versions');
  return answer;
}

const LONG = 'a line of text\n'.repeat(20_000);

describe.each(MATRIX)('over $transport, in the $era era', ({ transport, era }) => {
  it('contents that the client has are not sent again, and new ones are', async () => {
    await using folder = await temporaryFolder({
      'a.txt': 'one\ntwo\nthree\n',
      'long.txt': LONG,
      'in/b.txt': 'b',
      'in/c.txt': 'c',
    });
    await using server = await connect(transport, era, [folder.path]);
    const wants: readonly (readonly [string, Meta?])[] = [
      ['file:///a.txt'],
      ['file:///long.txt'],
      ['file:///in'],
      ['file:///a.txt#L2'],
      ['file:///a.txt', { 'vitrine/range': { offset: 4, length: 3 } }],
      ['file:///long.txt', { 'vitrine/range': { offset: 100_000, length: 70_000 } }],
    ];
    const seen = new Set<unknown>();
    for (const [uri, meta] of wants) {
      const whole = await settled(server, uri, meta);
      const versions = versionsIn(whole);
      for (const version of versions) {
        expect(version).toMatch(/^W\/"[\w-]+"$/);
        expect(seen.has(version)).toBe(false);
        seen.add(version);
      }
      const again = await ask(server, uri, { ...meta, 'vitrine/ifVersion': versions });
      expect(again, uri).toMatchObject({ contents: [], _meta: { 'vitrine/notModified': true } });
      expect(again.ttlMs).toBe(whole.ttlMs);
      for (const others of [['"another"'], [...versions, '"more"'], ['*'], ['']])
        expect((await ask(server, uri, { ...meta, 'vitrine/ifVersion': others })).contents).toEqual(whole.contents);
      expect(await ask(server, uri, meta)).toEqual(whole);
    }
    await folder.write('a.txt', 'ONE\ntwo\nthree\n');
    const [before] = seen;
    const changed = await ask(server, 'file:///a.txt', { 'vitrine/ifVersion': [before] });
    expect(changed.contents[0]?.text).toBe('ONE\ntwo\nthree\n');
    expect(changed._meta?.['vitrine/notModified']).toBeUndefined();
    for (const wrong of ['"one"', [], [7], ['x'.repeat(257)], Array(1_001).fill('""')])
      expect(await failure(ask(server, 'file:///a.txt', { 'vitrine/ifVersion': wrong }))).toMatchObject({
        code: -32602,
      });
  });

  it('the client library asks whether its cached contents are still the same', async () => {
    await using folder = await temporaryFolder({ 'long.txt': LONG });
    await using server = await connect(transport, era, [folder.path]);
    await settled(server, 'file:///long.txt');
    await using resources = createResourceClient(server.client);
    expect((await resources.read('file:///long.txt')).from).toBe('server');
    const before = server.received.length;
    const again = await resources.read('file:///long.txt');
    expect([again.from, await again.primary?.text()]).toEqual(['revalidated', LONG]);
    expect(JSON.stringify(server.received.slice(before)).length).toBeLessThan(2_000);
    expect((await resources.read('file:///long.txt', { fresh: true })).from).toBe('server');
    await folder.write('long.txt', `${LONG}.`);
    const changed = await resources.read('file:///long.txt');
    expect([changed.from, await changed.primary?.text()]).toEqual(['server', `${LONG}.`]);
  });

  it('through two servers in a row, neither sends contents that their receiver has', async () => {
    await using folder = await temporaryFolder({ 'docs/long.txt': LONG });
    await using through = await chain(folder, transport, era);
    const { outer, sent } = through;
    const uri = 'in+docs+file:///long.txt';
    let whole = 0;
    const [version] = await until(async () => {
      whole++;
      const versions = versionsIn(await ask(outer, uri));
      return versions[0] !== undefined && versions;
    }, 'contents with a version');
    expect(notModified(await ask(outer, uri, { 'vitrine/ifVersion': [version] }))).toBe(true);
    expect((await ask(outer, uri)).contents[0]?.text).toBe(LONG);
    await folder.write('docs/long.txt', `${LONG}.`);
    expect((await ask(outer, uri, { 'vitrine/ifVersion': [version] })).contents[0]?.text).toBe(`${LONG}.`);
    await until(async () => (await sent()).includes(LONG.length + 1), 'the last line of the audit');
    expect(await sent()).toEqual([...Array(whole).fill(LONG.length), 0, 0, LONG.length + 1]);
  });
});

/** The reads in an audit. */
const readLines = async (folder: Folder): Promise<readonly string[]> =>
  (await readFile(folder.at('audit.jsonl'), 'utf8')).split('\n').filter((line) => line.includes('"method":"read"'));

/** A server of a folder behind another server, and the bytes that the inner one returned for each read. */
async function chain(folder: Folder, transport: 'stdio' | 'http', era: 'legacy' | 'modern') {
  const file = folder.at('audit.jsonl');
  const config = await writeConfig(folder, { tools: 'off', audit: { file }, mounts: { docs: './docs' } }, 'inner.yaml');
  const inner = transport === 'http' ? await startHttp(['--config', config]) : undefined;
  const reached = inner ? { url: inner.url } : { command: process.execPath, args: [CLI, 'serve', '--config', config] };
  const mounts = { in: { ...reached, era: era === 'legacy' ? '2025' : '2026' } };
  const outer = await connect(transport, era, ['--config', await writeConfig(folder, { mounts }, 'outer.yaml')]);
  return {
    outer,
    sent: async (): Promise<readonly unknown[]> => (await readLines(folder)).map((line) => JSON.parse(line).bytes),
    async [Symbol.asyncDispose]() {
      await outer.close();
      await inner?.stop();
    },
  };
}

describe.each(DIAGONAL)('layers, over $transport, in the $era era', ({ transport, era }) => {
  it('covered secrets have versions of the covered contents, and access rules are applied first', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    await using folder = await temporaryFolder({
      'd/secret.txt': `token: ${token}\n`,
      'd/page.html': '<h1>Title</h1><p>Some text.</p>',
      'd/hidden.txt': 'hidden',
    });
    const mounts = { d: './d' };
    const rules = {
      audit: { file: folder.at('audit.jsonl') },
      access: { default: 'allow', rules: [{ name: 'hidden', effect: 'deny', who: 'anyone', uris: ['**/hidden.txt'] }] },
    };
    const open = await writeConfig(folder, { mounts }, 'open.yaml');
    const closed = await writeConfig(folder, { mounts, redact: 'on', ...rules }, 'closed.yaml');
    await using plain = await connect(transport, era, ['--config', open]);
    await using server = await connect(transport, era, ['--config', closed]);
    const uri = 'd+file:///secret.txt';
    const [uncovered] = versionsIn(await settled(plain, uri));
    const covered = await ask(server, uri);
    const [version] = versionsIn(covered);
    expect(covered.contents[0]?.text).not.toContain(token);
    expect(version).toMatch(/^"[\w-]+"$/);
    expect((await ask(server, uri, { 'vitrine/ifVersion': [uncovered] })).contents).toHaveLength(1);
    expect(notModified(await ask(server, uri, { 'vitrine/ifVersion': [version] }))).toBe(true);
    const hidden = 'd+file:///hidden.txt';
    const [known] = versionsIn(await settled(plain, hidden));
    expect(await failure(ask(server, hidden, { 'vitrine/ifVersion': [known] }))).toMatchObject({
      code: expect.any(Number),
    });
    await until(async () => (await readLines(folder)).length === 4, 'a line of the audit for each read');
  });

  it('each format has its own version', async () => {
    await using folder = await temporaryFolder({ 'a.txt': Buffer.from('\ufeffhello', 'utf16le') });
    await using server = await connect(transport, era, [folder.path]);
    const uri = 'file:///a.txt';
    const both = await settled(server, uri);
    expect(both.contents).toHaveLength(2);
    expect(new Set(versionsIn(both)).size).toBe(2);
    expect(notModified(await ask(server, uri, { 'vitrine/ifVersion': versionsIn(both) }))).toBe(true);
    const accept = { 'vitrine/accept': ['text/plain;charset=utf-8'] };
    const text = await settled(server, uri, accept);
    expect(notModified(await ask(server, uri, { ...accept, 'vitrine/ifVersion': versionsIn(text) }))).toBe(true);
    expect(notModified(await ask(server, uri, { 'vitrine/ifVersion': versionsIn(text) }))).toBe(false);
  });
});

describe.each(DIAGONAL)('strong versions, over $transport, in the $era era', ({ transport, era }) => {
  it('are those of objects in git, which another commit does not change', async () => {
    await using work = await scene();
    const read = async (on: Connected, meta?: Meta) => ask(on, 'git:///HEAD/a.md', meta);
    await work.write('a.md', 'one');
    work.commit('First');
    work.git('branch', 'old');
    await using folder = await temporaryFolder();
    const config = await writeConfig(folder, { mounts: { g: { git: work.directory, prefix: 'none' } } });
    await using server = await connect(transport, era, ['--config', config]);
    const [first] = versionsIn(await read(server));
    expect(first).toMatch(/^"[\w-]+"$/);
    await work.write('a.md', 'two');
    work.commit('Second');
    await until(async () => (await read(server)).contents[0]?.text === 'two', 'the second commit');
    expect((await read(server, { 'vitrine/ifVersion': [first] })).contents[0]?.text).toBe('two');
    const old = await ask(server, 'git:///branches/old/a.md');
    expect(notModified(await ask(server, 'git:///branches/old/a.md', { 'vitrine/ifVersion': versionsIn(old) }))).toBe(
      true,
    );
  });

  it('are those of a web server that has strong ones', async () => {
    await using site = await startSite();
    const urls = { strong: `${site.origin}/strong`, weak: `${site.origin}/weak`, none: `${site.origin}/none` };
    const text = { 'content-type': 'text/plain', 'cache-control': 'no-cache' };
    site.on('/strong', content('one', { ...text, etag: '"1"' }));
    site.on('/weak', content('one', { ...text, etag: 'W/"1"' }));
    site.on('/none', content('one', text));
    await using folder = await temporaryFolder();
    const config = await writeConfig(folder, { mounts: { web: { http: Object.values(urls), prefix: 'none' } } });
    await using server = await connect(transport, era, ['--config', config]);
    expect(versionsIn(await ask(server, urls.weak))).toEqual([undefined]);
    expect(versionsIn(await ask(server, urls.none))).toEqual([undefined]);
    const held = { 'vitrine/ifVersion': versionsIn(await ask(server, urls.strong)) };
    expect(held['vitrine/ifVersion']).toEqual([expect.stringMatching(/^"[\w-]+"$/)]);
    expect(notModified(await ask(server, urls.strong, held))).toBe(true);
    site.on('/strong', content('two', { ...text, etag: '"2"' }));
    expect((await ask(server, urls.strong, held)).contents[0]?.text).toBe('two');
  });
});

it('whatever is written between reads, no client is told that changed bytes are the same', async () => {
  await using folder = await temporaryFolder({ 'a.txt': 'a' });
  await using server = await connect('stdio', 'modern', [folder.path]);
  const path = folder.at('a.txt');
  const step = fc.oneof(
    fc.record({ kind: fc.constant('write' as const), text: fc.constantFrom('a', 'b', 'cc', 'dd') }),
    fc.record({ kind: fc.constant('swap' as const), text: fc.constantFrom('a', 'b', 'cc', 'dd') }),
    fc.record({ kind: fc.constant('wait' as const), text: fc.constant('') }),
    fc.record({ kind: fc.constant('read' as const), text: fc.constant('') }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
      let had: { readonly text: string; readonly versions: readonly unknown[] } | undefined;
      for (const { kind, text } of [...steps, { kind: 'read' as const, text: '' }]) {
        if (kind === 'write') await writeFile(path, text);
        if (kind === 'swap') {
          await writeFile(`${path}~`, text);
          await rename(`${path}~`, path);
        }
        if (kind === 'wait') await new Promise((resolve) => setTimeout(resolve, 52));
        if (kind !== 'read') continue;
        const now = await readFile(path, 'utf8');
        const answer = await ask(server, 'file:///a.txt', had && { 'vitrine/ifVersion': had.versions });
        if (notModified(answer)) expect(had?.text).toBe(now);
        else {
          expect(answer.contents[0]?.text).toBe(now);
          const versions = versionsIn(answer).filter((each) => typeof each === 'string');
          had = versions.length === 1 ? { text: now, versions } : undefined;
        }
      }
    }),
    { numRuns: 15 },
  );
});
