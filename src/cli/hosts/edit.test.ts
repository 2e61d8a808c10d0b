/** Adds entries to configurations in any notation, and removes them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { edited } from './edit.ts';
import { parseJson } from './json.ts';

const VALUE = { command: 'npx', args: ['-y', 'vitrine', 'serve', 'C:\\docs "x"'] };

const comments = (text: string): readonly string[] => text.match(/\/\/ ?\d+|\/\* ?\d+ \*\//g) ?? [];

/** JSON of these servers with white space and comments wherever they may be. */
const written = fc
  .record({
    servers: fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.constantFrom('{}', '{ "command": "a" }', '[1,\n2]'), {
      maxKeys: 4,
    }),
    spaces: fc.infiniteStream(
      fc.constantFrom('', ' ', '\n', '\n    ', '\r\n\t', '/* # */', '/* # */\n', ' // #\n', '\n// #\n  '),
    ),
    trailing: fc.boolean(),
    section: fc.boolean(),
    around: fc.constantFrom('', '"before": 1'),
  })
  .map(({ servers, spaces, trailing, section, around }) => {
    let count = 0;
    const space = (): string => String(spaces.next().value).replace('#', () => String(count++));
    const object = (pairs: readonly (readonly [string, string])[]): string => {
      const inner = pairs.map(([key, value]) => `${space()}"${key}"${space()}:${space()}${value}${space()}`);
      return `{${inner.join(',')}${trailing && pairs.length > 0 ? `,${space()}` : space()}}`;
    };
    const inner = object(Object.entries(servers));
    const pairs = [
      ...(around === '' ? [] : [['before', '1'] as const]),
      ...(section ? [['servers', inner] as const] : []),
    ];
    return `${space()}${object(pairs)}${space()}`;
  });

describe('an entry', () => {
  it('is added to JSON in any notation and removed from it, with all comments and other entries kept', async () => {
    await fc.assert(
      fc.asyncProperty(written, async (text) => {
        const added = await edited('mcp.json', text, { path: ['servers', 'vitrine'], value: VALUE });
        expect(comments(added.text)).toEqual(comments(text));
        const replaced = await edited('mcp.json', added.text, {
          path: ['servers', 'vitrine'],
          value: { url: 'http://x/' },
        });
        expect(replaced.before).toEqual(VALUE);
        const removed = await edited('mcp.json', replaced.text, { path: ['servers', 'vitrine'], value: undefined });
        expect(comments(removed.text)).toEqual(comments(text));
        expect(parseJson(removed.text)).toEqual({
          ...((parseJson(text) as object) ?? {}),
          ...(/"servers"/.test(text) ? {} : { servers: {} }),
        });
      }),
      { numRuns: 500 },
    );
  });

  it('in the middle or at the end is removed with its comma', async () => {
    for (const [text, left] of [
      ['{"s":{"a":1,"v":2,"b":3}}', '{"s":{"a":1,"b":3}}'],
      ['{"s":{"a":1, "v":2}}', '{"s":{"a":1}}'],
      ['{"s":{"v":2}}', '{"s":{}}'],
      ['{\n  "s": {\n    "v": {}\n  }\n}\n', '{\n  "s": {}\n}\n'],
      [
        '{\n  "s": {\n    "a": 1, // one\n    // two\n    "v": {}\n  }\n}',
        '{\n  "s": {\n    "a": 1 // one\n    // two\n  }\n}',
      ],
    ] as const)
      expect((await edited('x.json', text, { path: ['s', 'v'], value: undefined })).text).toBe(left);
  });

  it('is removed from TOML with its tables and lines, and comments of other entries stay', async () => {
    const gone = async (text: string) => (await edited('x.toml', text, { path: ['m', 'v'], value: undefined })).text;
    expect(await gone('[m.v] # mine\na = 1\n\n[m.v.env]\nB = "b"\n\n# of the other\n[other]\nx = 1\n')).toBe(
      '\n# of the other\n[other]\nx = 1\n',
    );
    expect(await gone('m.v.a = 1 # a\nx = 1\nm.v.b = 2\n')).toBe('x = 1\n');
    expect(await gone('[m]\nw = { a = 1 }\nv = { a = 1 }\n')).toBe('[m]\nw = { a = 1 }\n');
    await expect(gone('m = { v = { a = 1 }, w = {} }\n')).rejects.toThrow('edit it by hand');
  });

  it('that is one line of a TOML table becomes a table of its own, and can be removed', async () => {
    const { text } = await edited('x.toml', '[m]\nv = { a = 1 }\nw = { a = 1 }', { path: ['m', 'v'], value: VALUE });
    expect(text).toBe(
      '[m]\nw = { a = 1 }\n\n[m.v]\ncommand = "npx"\nargs = ["-y", "vitrine", "serve", "C:\\\\docs \\"x\\""]\n',
    );
  });

  it('of YAML is added, replaced and removed, alone or among others, but not in a filled section on one line', async () => {
    const path = ['extensions', 'v'];
    const put = async (text: string, value: object | undefined) =>
      (await edited('x.yaml', text, { path, value: value as Record<string, unknown> | undefined })).text;
    const entry = { cmd: 'a' };
    expect(await put('', entry)).toBe('extensions:\n  v:\n    cmd: a\n');
    expect(await put('x: 1', entry)).toBe('x: 1\nextensions:\n  v:\n    cmd: a\n');
    expect(await put('extensions: {}\nx: 1\n', entry)).toBe('extensions:\n  v:\n    cmd: a\nx: 1\n');
    expect(await put('extensions:\n# none\nx: 1\n', entry)).toBe('extensions:\n  v:\n    cmd: a\n# none\nx: 1\n');
    expect(await put('extensions:\n    b: |\n      text\n\n# end\n', entry)).toBe(
      'extensions:\n    b: |\n      text\n    v:\n      cmd: a\n\n# end\n',
    );
    expect(await put('extensions:\n  v: { cmd: b } # old\n  w: 1\n', entry)).toBe(
      'extensions:\n  v:\n    cmd: a\n  w: 1\n',
    );
    expect(await put('extensions:\n  v:\n    cmd: b\n  # of w\n  w: 1\n', undefined)).toBe(
      'extensions:\n  # of w\n  w: 1\n',
    );
    expect(await put('extensions:\n  v:\n    cmd: b\nx: 1\n', undefined)).toBe('extensions: {}\nx: 1\n');
    await expect(put('extensions: { b: { cmd: b } }\n', entry)).rejects.toThrow('edit it by hand');
  });
});
