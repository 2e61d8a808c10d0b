/** `vitrine cat` and `grep`: contents byte for byte for programs, and matches from any server. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scripted } from '../../client/scripted.ts';
import { temporaryFolder } from '../../e2e/folders.ts';
import { type Listening, MUSEUM, startHttp } from '../../e2e/harness.ts';
import { ODD } from './odd.ts';
import { run } from './run.ts';

let museum: Listening;
beforeAll(async () => {
  museum = await startHttp([MUSEUM]);
});
afterAll(() => museum[Symbol.asyncDispose]());

const lines = (text: string): string[] => text.split('\n').slice(0, -1);

it.each([65_536, 65_537, 108_894, 3 * 1024 * 1024, 5 * 1024 * 1024])(
  'of %i bytes in a folder come out byte for byte, as text and as bytes',
  async (size) => {
    const text = Array.from({ length: size / 6 + 1 }, (_, index) => `${index}\n`)
      .join('')
      .slice(0, size);
    const bytes = randomBytes(size);
    await using folder = await temporaryFolder({ 'from/a.txt': text, 'from/b.bin': bytes });
    const from = folder.at('from');
    const printed = await run(['cat', from, 'a.txt']);
    expect(printed).toMatchObject({ status: 0, stderr: '' });
    expect(printed.stdout === text).toBe(true);
    const got = await run(['get', from, 'file:///', '--to', folder.at('to')]);
    expect(got).toMatchObject({ status: 0, stderr: '' });
    expect((await readFile(folder.at('to/a.txt'))).equals(Buffer.from(text))).toBe(true);
    expect((await readFile(folder.at('to/b.bin'))).equals(bytes)).toBe(true);
    const last = text.split('\n').length - 2;
    const found = await run(['grep', from, `^${last}$`, '--read', '--include', 'a.txt']);
    expect(found.stdout).toBe(`file:///a.txt:${last + 1}:${last}\n`);
  },
);

describe('cat', () => {
  it('prints contents unchanged for programs, with escapes', async () => {
    // Into a file or a program, escapes are bytes like others.
    expect((await run(['cat', ODD, 'odd:///evil'])).stdout).toContain('\u001b[2J');
  });

  it.each<[string[], string]>([
    [['--range', '0-8'], '# Welcome'],
    [['--range', '2-4', 'file:///guide/welcome.md'], 'Wel'],
    [['--range', '-9'], ' are we.\n'],
    [['--lines', '1'], '# Welcome to the Hall\n'],
    [['--lines', '1-3', '--accept', 'text/html,text/markdown'], '# Welcome to the Hall\n\nYou are standing on'],
    [['--lines', '9000-'], ''],
  ])('prints a part: %j', async (args, expected) => {
    const target = args.some((arg) => arg.startsWith('file:')) ? args : [...args, 'guide/welcome.md'];
    const { status, stdout, stderr } = await run(['cat', museum.url, ...target]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.slice(0, expected.length || undefined)).toBe(expected);
  });

  it('prints lines of a text in another charset as UTF-8, and its bytes unchanged', async () => {
    const bytes = Buffer.from('\ufeffone\ntw\u00f6\n', 'utf16le');
    await using server = await scripted({
      'resources/read': ({ uri }) => ({
        contents: [{ uri, mimeType: 'text/plain; charset=utf-16le', blob: bytes.toString('base64') }],
      }),
    });
    const cat = async (...args: string[]) => (await run(['cat', server.url, 'note:///a', ...args])).stdout;
    expect(await cat('--lines', '2')).toBe('tw\u00f6\n');
    expect(JSON.parse(await cat('--lines', '1', '--json'))).toMatchObject({ contents: [{ text: 'one\n' }] });
    expect(Buffer.from(await cat(), 'utf8').toString()).toBe(bytes.toString('utf8'));
  });

  it('prints the format that the user wants [2093-6]', async () => {
    const [first, html, none, all] = await Promise.all([
      run(['cat', ODD, 'odd:///formats']),
      run(['cat', ODD, 'odd:///formats', '--accept', 'text/html']),
      run(['cat', ODD, 'odd:///formats', '--accept', 'image/*']),
      run(['cat', ODD, 'odd:///formats', '--json']),
    ]);
    expect([first.stdout, html.stdout]).toEqual(['# x', '<h1>x</h1>']);
    expect(none).toMatchObject({ status: 8, stdout: '' });
    expect(none.stderr).toContain('there is text/markdown, text/html');
    expect(JSON.parse(all.stdout)).toMatchObject({ contents: [{ text: '# x' }, { text: '<h1>x</h1>' }] });
  });

  it('prints the other resources if one fails, and fails itself', async () => {
    const { status, stdout, stderr } = await run(['cat', ODD, 'odd:///nothing', 'odd:///plain.txt']);
    expect({ status, stdout }).toEqual({ status: 3, stdout: 'one\ntwo\nthree\n' });
    expect(stderr).toMatch(/^vitrine: .*There is none: odd:\/\/\/nothing\n$/);
  });

  it('prints several resources as one JSON array, or one JSON value a line, without those that fail', async () => {
    const uris = ['odd:///nothing', 'odd:///plain.txt', 'odd:///formats'];
    const expected = [
      { uri: 'odd:///plain.txt', contents: [{ text: 'one\ntwo\nthree\n' }] },
      { uri: 'odd:///formats', contents: [{ text: '# x' }, { text: '<h1>x</h1>' }] },
    ];
    const [array, values] = [await run(['cat', ODD, ...uris, '--json']), await run(['cat', ODD, ...uris, '--jsonl'])];
    expect(JSON.parse(array.stdout)).toMatchObject(expected);
    expect(lines(values.stdout).map((line) => JSON.parse(line))).toMatchObject(expected);
    for (const { status, stderr } of [array, values]) {
      expect(status).toBe(3);
      expect(stderr).toMatch(/^vitrine: .*There is none: odd:\/\/\/nothing\n$/);
    }
  });

  it('of a folder says how to list it', async () => {
    const { status, stdout, stderr } = await run(['cat', museum.url, 'guide']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('vitrine ls lists what is in it');
  });
});

describe('grep', () => {
  it("finds the same by the server's own search and by reading", async () => {
    const [own, read] = await Promise.all([
      run(['grep', museum.url, '-i', '100% BRASS', '--include', '*.md']),
      run(['grep', museum.url, '-i', '100% BRASS', '--include', '*.md', '--read']),
    ]);
    expect(own).toMatchObject({ status: 0, stderr: '' });
    expect(lines(own.stdout)).toContain(
      'file:///README.md:31:[the 100% brass clock](collection/100%25%20brass.md) and',
    );
    expect(lines(read.stdout).sort()).toEqual(lines(own.stdout).sort());
  });

  it('finds text in servers without search, below a resource, and prints it as data', async () => {
    const [found, below, names] = await Promise.all([
      run(['grep', ODD, 't(w|h)', '--include', 'plain*', '--json']),
      run(['grep', museum.url, '-F', '100%25%20brass', 'README.md', 'guide', '--jsonl']),
      run(['grep', museum.url, '-l', 'brass', 'guide', '--max-matches', '2']),
    ]);
    expect(found.status).toBe(0);
    expect(JSON.parse(found.stdout)).toEqual([
      { uri: 'odd:///plain.txt', line: 2, text: 'two' },
      { uri: 'odd:///plain.txt', line: 3, text: 'three' },
    ]);
    expect(lines(below.stdout).map((line) => JSON.parse(line))).toMatchObject([{ uri: 'file:///README.md', line: 31 }]);
    expect(new Set(lines(names.stdout)).size).toBe(lines(names.stdout).length);
  });

  it('ends with 1 if nothing is found, and with 2 if the pattern is invalid', async () => {
    const [nothing, wrong] = await Promise.all([run(['grep', museum.url, 'zzzzzz']), run(['grep', museum.url, '('])]);
    expect(nothing).toEqual({ status: 1, stdout: '', stderr: '' });
    expect(wrong).toMatchObject({ status: 2, stdout: '' });
    expect(wrong.stderr).toMatch(/^vitrine: The pattern is not a valid regular expression/);
  });
});
