/** `vitrine get`: its output, and its exit status. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refusal, type Scripted, scripted } from '../../client/scripted.ts';
import { run } from './run.ts';

const TEXTS: Readonly<Record<string, string>> = {
  'x:///a': 'one',
  'x:///b': 'three',
  'x:///c\u001b[2J': 'escape',
};

/** A resource that is not in the list. */
const GIT = 'x:///.git';

let server: Scripted;
let root: string;
let count = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'vitrine-get-'));
  server = await scripted({
    'resources/list': () => ({
      resources: [...Object.keys(TEXTS), 'x:///gone'].map((uri) => ({ uri, name: uri })),
    }),
    'resources/read': ({ uri }) => {
      const text = uri === GIT ? 'gitdir: elsewhere' : TEXTS[String(uri)];
      if (text === undefined) throw refusal(-32_602);
      return { contents: [{ uri, text }] };
    },
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
});

let to: string;
beforeEach(() => {
  to = join(root, String(++count));
});

describe('get', () => {
  it('says what was written and what failed, and that something is missing', async () => {
    const { status, stdout, stderr } = await run(['get', server.url, '--to', to]);
    expect(stdout).toMatch(/^3 written, 0 unchanged, 1 failed, 14 read: .*\n$/);
    expect(stderr).toBe('vitrine: x:///gone: refused\n');
    expect(status).toBe(7);
    expect(await readFile(join(to, 'x/b'), 'utf8')).toBe('three');
    const again = await run(['get', server.url, '--to', to, '--verbose']);
    expect(again.stdout).toContain('unchanged      3  x/a\n');
    expect(again.stdout).not.toContain('\u001b');
  });

  it('writes some resources completely, and prints one JSON document', async () => {
    const { status, stdout } = await run(['get', server.url, 'x:///a', 'x:///b', '--to', to, '--json']);
    expect(status).toBe(0);
    const { resources, ...report } = JSON.parse(stdout);
    expect(report).toMatchObject({ written: 2, failed: 0, complete: true, start: ['x:///a', 'x:///b'] });
    expect(resources.map(({ path }: { path: string }) => path).sort()).toEqual(['x/a', 'x/b']);
  });

  it('writes only included resources, and with --dry-run says what it would do', async () => {
    const dry = await run(['get', server.url, '--to', to, '--dry-run', '--exclude', 'gone', '--exclude', 'c*']);
    expect(dry).toMatchObject({ status: 0, stderr: '' });
    expect(dry.stdout).toBe(`planned        -  x/a\nplanned        -  x/b\n2 to be read, 0 unchanged: ${to}\n`);
    const some = await run(['get', server.url, '--to', to, '--include', 'x/[ab]', '--exclude', 'b']);
    expect(some.stdout).toMatch(/^1 written, 0 unchanged, 3 read: /);
    const refused = await run(['get', server.url, '--to', to, '--include', '!a']);
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toContain('"!a"');
  });

  it('prints JSON lines, the report last', async () => {
    const { stdout } = await run(['get', server.url, '--to', to, '--jsonl']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toHaveLength(5);
    expect(lines.find(({ uri }) => uri === 'x:///a')).toMatchObject({ status: 'written', path: 'x/a', size: 3 });
    expect(lines.at(-1)).toMatchObject({ report: { written: 3, failed: 1 } });
  });

  it('succeeds at a limit that the user set, and writes only where it may', async () => {
    const some = await run(['get', server.url, '--to', to, '--max-resources', '2']);
    expect(some).toMatchObject({ status: 0, stderr: '' });
    expect(some.stdout).toMatch(/^2 written, /);
    const small = await run(['get', server.url, '--to', `${to}-small`, '--max-bytes', '4']);
    expect(small.status).toBe(7);
    expect(small.stderr).toContain('more than 4 bytes');
    await rm(join(to, '.vitrine-get'), { recursive: true });
    await writeFile(join(to, 'mine'), '');
    const refused = await run(['get', server.url, '--to', to]);
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toContain('not empty');
    expect(await run(['get', server.url, '--to', to, '--force', '--fresh'])).toMatchObject({ status: 7 });
  });

  it('keeps a name that tools act on only with --keep-name', async () => {
    const args = ['get', server.url, GIT, '--to', to, '--jsonl', '--force'];
    expect((await run(args)).stdout).toContain('"path":"_.git"');
    expect((await run([...args, '--keep-name', '.envrc', '--keep-name', '.GIT'])).stdout).toContain('"path":".git"');
    const refused = await run([...args, '--keep-name', 'a']);
    expect(refused).toMatchObject({ status: 2, stdout: '' });
    expect(refused.stderr).toContain('No tool acts on the name "a"');
  });

  it.each([
    [['get', 'https://x.invalid'], '--to'],
    [['get', 'https://x.invalid', '--to', 'x', '--concurrency', '65'], 'a whole number from 1 to 64'],
    [['get', 'https://x.invalid', '--to', 'x', '--max-bytes', 'much'], '--max-bytes'],
  ])('%j is a mistake', async (args, word) => {
    const { status, stderr } = await run(args);
    expect(stderr).toContain(word);
    expect(status).toBe(2);
  });
});
