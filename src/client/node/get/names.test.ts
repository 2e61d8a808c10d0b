/** Whatever names a server gives its resources, the names of files are safe, and each resource has its own file. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldName } from '../../file-names.ts';
import { isSafeName, marked, safeName, stepsOf } from './names.ts';
import { createPlacement } from './placement.ts';

const FILE = { top: false, file: true };

const pathOf = (uri: string, start?: string): string =>
  stepsOf(uri, start)
    .map(({ name }) => name)
    .join('/');

describe('names', () => {
  it.each([
    ['file:///guide/a%20b.md', undefined, 'file/guide/a b.md'],
    ['file:///guide/a.md', 'file:///guide', 'a.md'],
    ['file:///guide/deep/a.md', 'file:///guide/', 'deep/a.md'],
    ['file:///guide', 'file:///guide', 'guide'],
    ['file:///other/a.md', 'file:///guide', 'file/other/a.md'],
    ['file:///guidebook', 'file:///guide', 'file/guidebook'],
    ['docs+file:///a', undefined, 'docs+file/a'],
    ['memory://knowledge-graph', undefined, 'memory/knowledge-graph'],
    ['urn:isbn:9780142437247', undefined, 'urn/isbn%3A9780142437247'],
    ['notes:///', undefined, 'notes/_'],
    ['x://search?order=title&limit=2', undefined, 'x/search%3Forder=title&limit=2'],
    ['no uri at all', undefined, '_/no uri at all'],
    ['', undefined, '_/_'],
    // Paths that lead out.
    ['x:///../../etc/passwd', undefined, 'x/.%2E/.%2E/etc/passwd'],
    ['x:///%2e%2e/%2e%2e/etc/passwd', undefined, 'x/.%2E/.%2E/etc/passwd'],
    ['x:///..%2f..%2fetc%2fpasswd', undefined, 'x/..%2F..%2Fetc%2Fpasswd'],
    ['x:///a/./b//c', undefined, 'x/a/%2E/b/_/c'],
    ['x:////etc/passwd', undefined, 'x/_/etc/passwd'],
    ['x:///..\\..\\windows', undefined, 'x/..%5C..%5Cwindows'],
    ['x:///C:/windows', undefined, 'x/C%3A/windows'],
    ['x:///C%3A%5Cwindows', undefined, 'x/C%3A%5Cwindows'],
    ['x:///file:stream', undefined, 'x/file%3Astream'],
    ['x:///a%00b', undefined, 'x/a%00b'],
    ['x:///a%0Ab%1B%5B2J', undefined, 'x/a%0Ab%1B[2J'],
    // Characters that reverse or hide text. Some file systems ignore them.
    ['x:///.g%E2%80%8Cit/config', undefined, 'x/.g%E2%80%8Cit/config'],
    ['x:///%E2%80%AEgpj.exe', undefined, 'x/%E2%80%AEgpj.exe'],
    // Windows.
    ['x:///CON', undefined, 'x/_CON'],
    ['x:///nul.txt', undefined, 'x/_nul.txt'],
    ['x:///com%C2%B9.log', undefined, 'x/_com\u00b9.log'],
    ['x:///console', undefined, 'x/console'],
    ['x:///trailing.', undefined, 'x/trailing%2E'],
    ['x:///trailing%20', undefined, 'x/trailing%20'],
    // Invalid escapes.
    ['x:///100%', undefined, 'x/100%'],
    ['x:///%ff', undefined, 'x/%ff'],
    // Names on which tools act, in the spellings that file systems treat as equal.
    ['x:///.git/config', undefined, 'x/_.git/config'],
    ['x:///a/.GiT/hooks/post-checkout', undefined, 'x/a/_.GiT/hooks/post-checkout'],
    ['x:///%2egit/config', undefined, 'x/_.git/config'],
    ['x:///.git%20/config', undefined, 'x/.git%20/config'],
    ['x:///.git.../config', undefined, 'x/.git..%2E/config'],
    ['x:///.git::$INDEX_ALLOCATION/config', undefined, 'x/.git%3A%3A$INDEX_ALLOCATION/config'],
    ['x:///git~1/config', undefined, 'x/git%7E1/config'],
    ['x:///GI7EBA~1/config', undefined, 'x/GI7EBA%7E1/config'],
    ['x:///GIT\uff5e1', undefined, 'x/GIT%7E1'],
    ['x:///ENVRC~1.TXT', undefined, 'x/ENVRC%7E1.TXT'],
    ['x:///backup~2024-01-01', undefined, 'x/backup~2024-01-01'],
    ['x:///\uff0e\uff47\uff49\uff54/config', undefined, 'x/_\uff0e\uff47\uff49\uff54/config'],
    ['x:///.g\u0131t/config', undefined, 'x/_.g\u0131t/config'],
    ['x:///.gi\ufe0ft/config', undefined, 'x/_.gi\ufe0ft/config'],
    ['x:///.git\uff1aa/config', undefined, 'x/_.git\uff1aa/config'],
    ['x:///.git', 'x:///.git', '_.git'],
    ['x:///.gitignore', undefined, 'x/.gitignore'],
    ['x:///.gitattributes', undefined, 'x/.gitattributes'],
    // A file of that name makes a folder a repository; a folder of that name does not.
    ['x:///head', undefined, 'x/_head'],
    ['x:///HEAD/src', undefined, 'x/HEAD/src'],
    ['x:///a/Desktop.ini', undefined, 'x/a/_Desktop.ini'],
    ['x:///docs.URL', undefined, 'x/_docs.URL_'],
    ['x:///.claude.lnk', undefined, 'x/_.claude.lnk_'],
    ['x:///_exrc', undefined, 'x/__exrc'],
    // Only a home directory has these.
    ['x:///.bashrc', 'x:///', '_.bashrc'],
    ['x:///.bashrc', undefined, 'x/.bashrc'],
    // The folder of `get` itself.
    ['x:///a/.vitrine-get/manifest.jsonl', undefined, 'x/a/_.vitrine-get/manifest.jsonl'],
    ['x:///.vitrine-get/manifest.jsonl', 'x:///', '_.vitrine-get/manifest.jsonl'],
    ['x:///.Vitrine-Get/lock', 'x:///', '_.Vitrine-Get/lock'],
  ])('%j below %j is %j', (uri, start, path) => {
    expect(pathOf(uri, start)).toBe(path);
    for (const name of path.split('/')) expect(isSafeName(name)).toBe(true);
  });

  it('are limited to 255 bytes, and paths to 32 names', () => {
    const long = safeName(`${'\u00fc'.repeat(400)}.markdown`, FILE);
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(255);
    expect(long).toMatch(/^\u00fc+~[0-9a-f]{16}\.markdown$/);
    expect(safeName(`${'a'.repeat(299)}b`, FILE)).not.toBe(safeName(`${'a'.repeat(299)}c`, FILE));
    const deep = (end: string) => stepsOf(`x:///${'a/'.repeat(500)}${end}/z`, undefined);
    expect(deep('b')).toHaveLength(32);
    expect(deep('b').map(({ name }) => name)).not.toEqual(deep('c').map(({ name }) => name));
    expect(Buffer.byteLength(marked('\u{1f600}'.repeat(80), '0'.repeat(64)))).toBeLessThanOrEqual(255);
  });

  it('of any URI stay in the folder, and no two of them are one file', () => {
    const segment = fc.oneof(
      fc.constantFrom(
        '.git',
        '.GIT',
        '_.git',
        'git~1',
        'HEAD',
        'a.lnk',
        '.env',
        '.claude.url',
        'a',
        'A',
        '..',
        '.',
        '%2e%2e',
        '%2F',
        'con',
        'a.',
        'a ',
        '\u00e9',
        'e\u0301',
        '~',
        '',
      ),
      fc.string({ unit: 'binary', maxLength: 6 }).map((text) => encodeURIComponent(text.toWellFormed())),
      fc.string({ unit: 'binary', maxLength: 6 }),
    );
    const uri = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => `x:///${segments.join('/')}`);
    const uris = fc.uniqueArray(uri, { minLength: 1, maxLength: 20 });
    const check = (all: readonly string[], containers: readonly boolean[]): void => {
      const placement = createPlacement('x:///');
      const paths = all.map((each, at) => placement.place(each, containers[at % containers.length] ?? false));
      const files = paths.map((path) => path.map(foldName).join('/'));
      expect(new Set(files).size).toBe(all.length);
      for (const path of paths) {
        for (const name of path) expect(isSafeName(name)).toBe(true);
        // No file has the path of a folder.
        for (let count = 1; count < path.length; count++) {
          expect(files).not.toContain(path.slice(0, count).map(foldName).join('/'));
        }
      }
      // The next run gives the same names.
      const next = createPlacement('x:///');
      for (const [at, path] of paths.entries()) expect(next.keep(all[at] ?? '', path)).toBe(true);
      expect(all.map((each) => next.place(each, false))).toEqual(paths);
    };
    fc.assert(fc.property(uris, fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }), check), {
      seed: 7,
      numRuns: 300,
    });
  });

  it.each([
    [['..', 'a']],
    [['a', '']],
    [['a/b']],
    [['.vitrine-get', 'lock']],
    [['C:', 'a']],
    [['a', '.git']],
    [['.GIT', 'a']],
    [['git~1', 'a']],
    [['x', 'nul']],
    [['Con.txt', 'a']],
    [[]],
  ])('from a changed manifest are refused: %j', (path) => {
    expect(createPlacement(undefined).keep('x:///a', path)).toBe(false);
  });
});
