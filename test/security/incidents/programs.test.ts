/**
 * Arguments of callers that became options and paths of a program. Vitrine starts ripgrep for searches, and the programs of the
 * configuration. Text of a caller must not become an option, a path or an environment variable of either.
 */
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { filesProvider } from '../../../src/providers/files/index.ts';
import { type Upstream, upstream } from '../../../src/providers/upstream/index.ts';
import { type HttpServing, serveHttp } from '../../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../../e2e/folders.ts';
import { CLI, ERAS } from '../../e2e/harness.ts';
import { MARKER } from '../scene.ts';
import { ask, beginSession, call, endSession } from './asking.ts';

interface Started {
  readonly command: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions;
}

const started = vi.hoisted((): Started[] => []);

vi.mock('node:child_process', async (importOriginal) => {
  const actual = await importOriginal<typeof import('node:child_process')>();
  const spawn = (command: string, args: readonly string[], options: SpawnOptions): ChildProcess => {
    started.push({ command, args, options });
    return actual.spawn(command, args, options);
  };
  return { ...actual, spawn };
});

/** Options of git and ripgrep that write, run or read something, and other ways to name a place. */
const INJECTIONS = [
  '--output=/tmp/xK7-written',
  '--output=xK7-written',
  '--upload-pack=touch xK7-written',
  '-oProxyCommand=touch xK7-written',
  '--pre=touch',
  '--pre=sh -c "touch xK7-written"',
  '--hostname-bin=touch',
  '-f/etc/passwd',
  '--file=/etc/passwd',
  '--ignore-file=/etc/passwd',
  '--follow',
  '--no-ignore',
  '--hidden',
  '--',
  '-',
  '; touch xK7-written',
  '$(touch xK7-written)',
  '`touch xK7-written`',
  '| touch xK7-written',
  '\n--pre=touch',
  '../secret.txt',
  '../../../../etc/passwd',
  '/etc/passwd',
];

let folder: Folder;
let far: Upstream;
let vitrine: Vitrine;
let serving: HttpServing;
const PROGRAM = { command: process.execPath, args: [CLI, 'serve'] };

beforeAll(async () => {
  folder = await temporaryFolder({
    'root/a.txt': 'some text',
    'root/.env': MARKER,
    'secret.txt': MARKER,
    'far/note.txt': 'a note',
  });
  far = upstream({ name: 'far', target: { ...PROGRAM, args: [...PROGRAM.args, folder.at('far')] } });
  vitrine = createVitrine({
    mounts: [
      { name: 'docs', provider: await filesProvider({ path: folder.at('root') }) },
      { name: 'far', provider: far.provider, server: far.server },
    ],
  });
  expect(await far.ready(60_000)).toBe(true);
  serving = await serveHttp(vitrine, { port: 0 });
});

afterAll(async () => {
  await serving?.close();
  await vitrine?.close();
  await folder?.[Symbol.asyncDispose]();
});

beforeEach(() => started.splice(0));

/** Options that Vitrine itself gives ripgrep. In a caller's text, the same words are only text. */
const OWN_OPTION =
  /^--(?:no-config|no-messages|color=never|null|no-ignore|encoding=none|crlf|no-heading|with-filename|line-number|byte-offset|only-matching|replace=|max-count=\d+|files|fixed-strings)$/;

/** Checks the command lines of searches: text of a caller is only in the values of two options. Gives the number of searches. */
function plainSearches(): number {
  const searches = started.filter(({ command }) => command !== PROGRAM.command);
  for (const { args, options } of searches) {
    const end = args.indexOf('--');
    const given = args.slice(0, end);
    expect(given.filter((arg) => !OWN_OPTION.test(arg) && !/^--(?:regexp|glob)=/.test(arg))).toEqual([]);
    expect(new Set(given).size).toBe(given.length);
    expect(args.slice(end + 1)).toEqual([expect.stringMatching(/^\.\/(?!.*\.\.)/)]);
    expect(options).toMatchObject({ cwd: folder.at('root'), env: {} });
    expect(options.shell ?? false).toBe(false);
  }
  return searches.length;
}

describe.each(ERAS)('in the %s era', (era) => {
  // Every session starts the mounted program again, so each test has only one session.
  let session: Readonly<Record<string, string>>;
  beforeEach(async () => {
    session = await beginSession(serving.url, era);
  });
  afterEach(() => endSession(serving.url, era, session));

  // git_diff and git_checkout passed a caller's text to git unchanged: `--output=file` overwrote files.
  it('CVE-2025-68144: text of a caller becomes an option of the program that searches', async () => {
    for (const text of INJECTIONS) {
      for (const args of [
        { pattern: text, literal: true },
        { pattern: 'some', glob: text },
      ]) {
        const { text: answer } = await call(serving.url, era, 'search', args, session);
        expect(answer).not.toContain(MARKER);
        expect(answer).not.toContain('root:x:0:0');
      }
    }
    expect(plainSearches()).toBeGreaterThan(INJECTIONS.length);
    expect((await readdir(folder.path)).sort()).toEqual(['far', 'root', 'secret.txt']);
    expect(await readdir(folder.at('root'))).toEqual(['.env', 'a.txt']);
  });

  // The path to which the server was bound was not compared with the caller's path, so files outside could be added.
  it('CVE-2025-68145, CVE-2026-27735: a path of a caller leaves the searched folder', async () => {
    for (const text of INJECTIONS) {
      for (const uri of [`docs+file:///${text}`, `docs+file:///${encodeURIComponent(text)}`, text]) {
        const { refused, text: answer } = await call(serving.url, era, 'search', { pattern: 'e', uri }, session);
        // A dash, or several slashes, never mean the folder itself.
        expect(refused, `${JSON.stringify(uri)}: ${answer}`).toBe(true);
        expect(answer.replaceAll(JSON.stringify(text).slice(1, -1), '')).not.toContain(MARKER);
      }
    }
    plainSearches();
  });

  // git_init made a repository at any path of a caller, and so made that place readable.
  it('CVE-2025-68143: a caller chooses which program is started, and where', async () => {
    for (const text of INJECTIONS) {
      for (const uri of [`far+file:///${text}`, `far+${text}`, `${text}+file:///a.txt`]) {
        const { refused, text: answer } = await ask(serving.url, era, 'resources/read', { uri }, session);
        expect(refused, uri).toBe(true);
        expect(answer).not.toContain(MARKER);
      }
      await call(serving.url, era, text, { command: text, args: [text], cwd: text, env: { PATH: text } }, session);
      await ask(serving.url, era, 'prompts/get', { name: text, arguments: { path: text } }, session);
      await call(serving.url, era, 'far_read', { uri: text }, session);
    }
    // A client's own connection starts exactly the program of the configuration.
    for (const { command, args, options } of started) {
      expect({ command, args }).toEqual({ command: PROGRAM.command, args: [...PROGRAM.args, folder.at('far')] });
      for (const text of INJECTIONS) expect(Object.values(options.env ?? {})).not.toContain(text);
      expect(options.cwd).toBeUndefined();
    }
    expect((await readdir(folder.path)).sort()).toEqual(['far', 'root', 'secret.txt']);
  });
});
