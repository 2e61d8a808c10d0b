/** Other programs change the audit file while the server writes it. The chain shows the change, and goes on (RES-9). */
import { copyFile, link, mkdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { verifyAudit } from '../../src/layers/audit/verify.ts';
import { vitrine } from '../cli/here.ts';
import { read } from '../e2e/answers.ts';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { type Connected, connectHttp, ERAS, type Listening, startHttp } from '../e2e/harness.ts';
import { until } from '../e2e/waiting.ts';
import { linesOf } from './audit-lines.ts';

interface Scene extends AsyncDisposable {
  readonly folder: Folder;
  readonly file: string;
  readonly server: Listening;
  readonly on: Connected;
  /** Reads a resource, and waits until its line is in the file of that name. */
  readonly record: (uri: string) => Promise<void>;
}

async function scene(era: (typeof ERAS)[number] = 'modern', audit: object = {}): Promise<Scene> {
  const folder = await temporaryFolder({
    ...Object.fromEntries(['one', 'two', 'three', 'four'].map((name) => [`docs/${name}.txt`, name])),
    'audits/': '',
  });
  const config = await writeConfig(folder, {
    mounts: { docs: './docs' },
    audit: { file: 'audits/audit.jsonl', ...audit },
  });
  const server = await startHttp([config]);
  const on = await connectHttp(era, server);
  const file = folder.at('audits/audit.jsonl');
  return {
    folder,
    file,
    server,
    on,
    async record(name) {
      await read(on, `docs+file:///${name}.txt`);
      await until(
        async () => (await readFile(file, 'utf8').catch(() => '')).includes(`/${name}.txt"`),
        `a line of ${name}`,
      );
    },
    async [Symbol.asyncDispose]() {
      await on.close();
      await server.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Gives the reasons of all reopenings in a file, in which some lines may not be audit lines. */
const reopenings = async (file: string): Promise<readonly unknown[]> =>
  (await readFile(file, 'utf8'))
    .split('\n')
    .flatMap((line) => /"event":"reopened".*"why":"(\w+)"/.exec(line)?.[1] ?? []);

interface Act {
  readonly name: string;
  readonly why: string;
  readonly act: (file: string, folder: Folder) => Promise<unknown>;
  /** The file with the earlier lines; undefined if they are gone. */
  readonly before?: string;
  /** The findings of `verify` about everything that remains. */
  readonly finds: RegExp | undefined;
}

const GONE = /lines 1 to \d+ of the audit are missing before this one/;

const ACTS: readonly Act[] = [
  { name: 'deleted', why: 'deleted', act: (file) => rm(file), finds: GONE },
  { name: 'renamed', why: 'renamed', act: (file) => rename(file, `${file}.1`), before: '.1', finds: undefined },
  {
    name: 'renamed, and made anew, as logrotate does with create',
    why: 'renamed',
    act: async (file) => {
      await rename(file, `${file}.1`);
      await writeFile(file, '');
    },
    before: '.1',
    finds: undefined,
  },
  {
    name: 'moved to a name with a date',
    why: 'renamed',
    act: (file) => rename(file, `${file}-20261122`),
    before: '-20261122',
    finds: undefined,
  },
  {
    name: 'deleted, and made anew',
    why: 'replaced',
    act: async (file) => writeFile(await gone(file), ''),
    finds: GONE,
  },
  {
    name: 'replaced by an empty file',
    why: 'replaced',
    act: async (file) => {
      await writeFile(`${file}.new`, '');
      await rename(`${file}.new`, file);
    },
    finds: GONE,
  },
  {
    name: 'replaced by its own beginning',
    why: 'replaced',
    act: async (file) => {
      const [first = ''] = (await readFile(file, 'utf8')).split(/(?<=\n)/);
      await writeFile(`${file}.new`, first);
      await rename(`${file}.new`, file);
    },
    finds: /lines 2 to \d+ of the audit are missing before this one/,
  },
  { name: 'truncated', why: 'truncated', act: (file) => truncate(file, 0), finds: GONE },
  {
    name: 'copied and truncated, as logrotate does with copytruncate',
    why: 'truncated',
    act: async (file) => {
      await copyFile(file, `${file}.1`);
      await truncate(file, 0);
    },
    before: '.1',
    finds: undefined,
  },
  {
    name: 'truncated within a line',
    why: 'truncated',
    act: (file) => truncate(file, 400),
    finds: /not a line of an audit/,
  },
  {
    name: 'written to by another',
    why: 'appended',
    act: (file) => writeFile(file, 'x', { flag: 'a' }),
    finds: /not a line of an audit/,
  },
  {
    name: 'in a folder that was renamed',
    why: 'renamed',
    act: async (_file, folder) => {
      await rename(folder.at('audits'), folder.at('elsewhere'));
      await mkdir(folder.at('audits'));
    },
    finds: undefined,
  },
];

async function gone(file: string): Promise<string> {
  await rm(file);
  return file;
}

describe.each(ERAS)('in the %s era, an audit whose file is', (era) => {
  it.each(ACTS)('$name records that, goes on, and is verified accordingly', async ({ why, act, before, finds }) => {
    await using on = await scene(era);
    await on.record('one');
    await act(on.file, on.folder);
    await on.record('two');
    await on.record('three');
    expect(await reopenings(on.file)).toEqual([why]);
    expect(on.server.output()).toContain('"audit: ');
    await on.on.close();
    await on.server.stop();
    expect(await readFile(on.file, 'utf8')).toMatch(/"event":"end"[^\n]*\n$/);

    const files = before === undefined || /^\.\d$/.test(before) ? [on.file] : [on.file, `${on.file}${before}`];
    const { status, stdout } = await vitrine(['audit', 'verify', ...files]);
    expect(stdout).toContain(`the server says that its file was ${why}`);
    if (finds === undefined) expect([status, stdout]).toEqual([0, expect.stringContaining('ok  ')]);
    else expect([status, stdout]).toEqual([1, expect.stringMatching(finds)]);
    if (before !== undefined) expect(stdout).toContain('number 1 to ');
  });
});

describe('an audit', () => {
  it('that lost its file again and again records each loss in its chain', async () => {
    await using on = await scene();
    await on.record('one');
    await rename(on.file, `${on.file}.3`);
    await on.record('two');
    await rename(on.file, `${on.file}.2`);
    await on.record('three');
    await rename(on.file, `${on.file}.1`);
    await on.record('four');
    await on.server.stop();
    const report = await verifyAudit(on.file);
    expect(report).toMatchObject({ findings: [], lost: 0 });
    expect(report.notes).toHaveLength(3);
    expect(report.files).toHaveLength(4);
  });

  it('keeps its lines while its folder is missing, says so, and writes them when the folder is there again', async () => {
    await using on = await scene();
    await on.record('one');
    await rename(on.folder.at('audits'), on.folder.at('elsewhere'));
    await read(on.on, 'docs+file:///two.txt');
    await until(() => on.server.output().includes('audit: lines cannot be written, and wait'), 'the log');
    await read(on.on, 'docs+file:///three.txt');
    await mkdir(on.folder.at('audits'));
    await on.record('three');
    await on.server.stop();
    const report = await verifyAudit([on.file, on.folder.at('elsewhere/audit.jsonl')]);
    expect(report).toMatchObject({ findings: [], lost: 0, first: { seq: 1 } });
    expect((await linesOf(on.file)).map(({ uri }) => uri)).toContain('docs+file:///two.txt');
  });

  it.each([
    ['a file that is no audit', (file: string) => writeFile(file, 'my diary\n')],
    ['one without a line feed', (file: string) => writeFile(file, 'my diary')],
    ['a folder', (file: string) => mkdir(file)],
    [
      'a link to something else',
      async (file: string) => {
        await writeFile(`${file}.diary`, 'my diary\n');
        await symlink(`${file}.diary`, file);
      },
    ],
  ])('does not write to %s in place of its file, and goes on when that is removed', async (_name, put) => {
    await using on = await scene();
    await on.record('one');
    await rename(on.file, `${on.file}.1`);
    await put(on.file);
    await read(on.on, 'docs+file:///two.txt');
    await until(() => on.server.output().includes('audit: lines cannot be written, and wait'), 'the log');
    const text = await readFile(on.file, 'utf8').catch(() => 'my diary');
    expect(text.trim()).toBe('my diary');
    await rm(on.file, { recursive: true });
    await on.record('two');
    await on.server.stop();
    expect((await verifyAudit(on.file)).findings).toEqual([]);
  });

  it('whose file has a second name goes on in that file', async () => {
    await using on = await scene();
    await on.record('one');
    await link(on.file, `${on.file}.backup`);
    await on.record('two');
    await on.server.stop();
    expect(await verifyAudit(on.file)).toMatchObject({ findings: [], notes: [] });
  });

  it('reports missing lines if older files were removed by somebody else, and none if the server rotated them', async () => {
    await using on = await scene('modern', { maxBytes: 4_096, maxFiles: 4 });
    // During a rotation, there may be no file with that name.
    const oldest = async (): Promise<number> => (await verifyAudit(on.file).catch(() => undefined))?.first?.seq ?? 0;
    await until(async () => {
      await Promise.all(Array.from({ length: 20 }, () => read(on.on, 'docs+file:///one.txt')));
      return (await oldest()) > 40;
    }, 'files that were put out');
    await on.record('two');
    await on.server.stop();
    expect(await verifyAudit(on.file)).toMatchObject({ findings: [], notes: [] });
    await rm(`${on.file}.3`);
    const { findings, notes } = await verifyAudit(on.file);
    expect(findings).toEqual([]);
    expect(notes).toMatchObject([{ problem: expect.stringMatching(/^lines \d+ to \d+ of the audit are missing/) }]);
  });

  it.each(['my diary', '{"audit":2', 'x\0\0\0'])(
    'is not begun in a file of one line that is not an audit line: %j',
    async (text) => {
      await using folder = await temporaryFolder({ 'docs/a.txt': 'a', 'audit.jsonl': text });
      const config = await writeConfig(folder, { mounts: { docs: './docs' }, audit: { file: 'audit.jsonl' } });
      const { status, stderr } = await vitrine(['serve', config]);
      expect([status, stderr]).toEqual([2, expect.stringContaining('does not end with a line of an audit')]);
      expect(await readFile(folder.at('audit.jsonl'), 'utf8')).toBe(text);
    },
  );
});
