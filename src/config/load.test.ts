import { mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from './error.ts';
import { loadConfig, loadHostFile, parseConfig } from './load.ts';

const parse = (text: string) => parseConfig(text, 'vitrine.yaml');

/** The message of the mistake in a configuration. */
function mistake(text: string): string {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('the configuration is valid, and should not be');
}

const MOUNTS = 'mounts:\n  docs: ./docs\n';

describe('parseConfig', () => {
  it('takes a mount as a path or as a block, and fills in its defaults', () => {
    const { mounts } = parse('mounts:\n  docs: ./docs\n  data: { path: ./data, hidden: true, prefix: none }\n');
    expect(mounts.docs).toBe('./docs');
    expect(mounts.data).toMatchObject({ path: './data', hidden: true, vcs: false, symlinks: true, prefix: 'none' });
  });

  it('takes JSON, comments, and anchors', () => {
    expect(parse('{"mounts": {"docs": "./docs"}}').mounts).toEqual({ docs: './docs' });
    const { mounts } = parse('mounts:\n  a: &all { path: ./a, watch: false } # quiet\n  b: *all\n');
    expect(mounts.b).toEqual(mounts.a);
  });

  it('takes the sizes of icons as words or as a list', () => {
    const icons = (sizes: string) =>
      parse(`${MOUNTS}server:\n  icons:\n    - { src: 'data:image/png,', sizes: ${sizes} }\n`).server?.icons;
    expect(icons('48x48')).toEqual([{ src: 'data:image/png,', sizes: ['48x48'] }]);
    expect(icons("'48x48  96x96'")).toEqual([{ src: 'data:image/png,', sizes: ['48x48', '96x96'] }]);
    expect(icons('[any]')).toEqual([{ src: 'data:image/png,', sizes: ['any'] }]);
  });

  const ADDRESSES = [
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    ' javascript:alert(1)',
    'java\\nscript:alert(1)',
    'vbscript:x',
    'data:text/html,<script>',
    'data:application/javascript,x',
    'data:,x',
    'data:image/png',
    'file:///etc/passwd',
    'ftp://x.example/a.png',
    'ws://x.example/',
    'blob:https://x.example/1',
    'about:blank',
    'https://user:secret@x.example/',
    'https://user@x.example/',
    'https:x.example',
    'ht\\ttps://x.example/',
    'https://x.example\\\\@evil.example/',
    '//x.example/a.png',
    'a.png',
  ];

  it.each(ADDRESSES)('refuses %j as an icon and as a website', (address) => {
    const icon = `icons: [{ src: "${address}" }]`;
    expect(mistake(`${MOUNTS}server:\n  ${icon}\n`)).toContain('server.icons.0.src: is an https: or http: URL');
    expect(mistake(`${MOUNTS}client:\n  ${icon}\n`)).toContain('client.icons.0.src: is an https: or http: URL');
    expect(mistake(`mounts:\n  docs: { path: ./docs, ${icon} }\n`)).toContain('icons.0.src');
    expect(mistake(`${MOUNTS}describe:\n  - { uris: ['docs+file:///**'], ${icon} }\n`)).toContain('icons.0.src');
    expect(mistake(`${MOUNTS}server:\n  websiteUrl: "${address}"\n`)).toContain('server.websiteUrl');
  });

  it('takes icons and websites of the web, and images in data: URIs as icons', () => {
    for (const src of [
      'https://x.example/a.png',
      'http://127.0.0.1/a',
      'data:image/svg+xml;charset=utf-8,<svg/>',
      'DATA:image/png;base64,AA==',
    ]) {
      expect(parse(`${MOUNTS}server:\n  icons: [{ src: '${src}' }]\n`).server?.icons).toEqual([{ src }]);
    }
    expect(parse(`${MOUNTS}server:\n  websiteUrl: https://x.example/\n`).server?.websiteUrl).toBe('https://x.example/');
    expect(mistake(`${MOUNTS}server:\n  websiteUrl: 'data:image/png,x'\n`)).toContain('server.websiteUrl');
    const icon = "{ src: 'https://x.example/a', mimeType: text/html }";
    expect(mistake(`${MOUNTS}server:\n  icons: [${icon}]\n`)).toContain('is the type of an image');
  });

  it.each<[string, string, string]>([
    ['a key at the top', `${MOUNTS}limts: {}\n`, '3:1: unknown key "limts"; did you mean "limits"?'],
    [
      'a key in a section',
      `${MOUNTS}limits:\n  pagesize: 3\n`,
      '4:3: unknown key "pagesize" in limits; did you mean "pageSize"?',
    ],
    [
      'a key of a mount',
      'mounts:\n  docs:\n    path: .\n    hiden: true\n',
      '4:5: unknown key "hiden" in mounts.docs; did you mean "hidden"?',
    ],
    [
      'a key that is needed',
      'mounts:\n  docs: { pth: . }\n',
      '2:11: unknown key "pth" in mounts.docs; did you mean "path"?',
    ],
    [
      'a key in a list',
      `${MOUNTS}server:\n  icons:\n    - srcc: x\n`,
      '5:7: unknown key "srcc" in server.icons.0; did you mean "src"?',
    ],
    [
      'a key of one of two shapes',
      `${MOUNTS}listing:\n  maxDpth: 3\n`,
      '4:3: unknown key "maxDpth" in listing; did you mean "maxDepth"?',
    ],
    ['a key that is like no other', `${MOUNTS}zzz: 1\n`, '3:1: unknown key "zzz"'],
  ])('names the line and the nearest key for %s', (_, text, message) => {
    expect(mistake(text)).toBe(`vitrine.yaml:${message}`);
  });

  it.each<[string, string, RegExp]>([
    [
      'a word for a number',
      `${MOUNTS}limits:\n  pageSize: many\n`,
      /^vitrine\.yaml:4:3: limits\.pageSize: .*number.*string/,
    ],
    ['a number that is too small', `${MOUNTS}limits:\n  pageSize: 0\n`, /^vitrine\.yaml:4:3: limits\.pageSize: /],
    ['a number for a mount', 'mounts:\n  docs: 7\n', /^vitrine\.yaml:2:3: mounts\.docs: .*string.*, or .*object/],
    [
      'a word that is not one of the choices',
      `${MOUNTS}listing: walks\n`,
      /^vitrine\.yaml:3:1: listing: .*"walk"\|"roots"/,
    ],
    [
      'the same in a block',
      `${MOUNTS}listing:\n  mode: walks\n`,
      /^vitrine\.yaml:4:3: listing\.mode: .*"walk"\|"roots"/,
    ],
    [
      'a website that is no URL',
      `${MOUNTS}server:\n  websiteUrl: nowhere\n`,
      /^vitrine\.yaml:4:3: server\.websiteUrl: is an https: or http: URL/,
    ],
    ['a name that cannot be in a URI', 'mounts:\n  My_Docs: .\n', /^vitrine\.yaml:2:3: mounts\.My_Docs: .*lower-case/],
    ['a list at the top', '[]\n', /^vitrine\.yaml:1:1: .*object.*array/],
  ])('names line and place of %s', (_, text, message) => {
    expect(mistake(text)).toMatch(message);
  });

  it.each(['', 'mounts:\n', 'mounts: {}\n', 'server: { name: x }\n'])(
    'says how to name what to serve, for %j',
    (text) => {
      expect(mistake(text)).toMatch(/mounts: Say what to serve, as in mounts: \{ docs: \.\/docs \}$/);
    },
  );

  it.each<[string, string, RegExp]>([
    ['indentation', `${MOUNTS} server: {}\n`, /^vitrine\.yaml:3:\d+: /],
    ['an open bracket', 'mounts: { docs: .\n', /^vitrine\.yaml:2:1: /],
    ['tabs', 'mounts:\n\tdocs: .\n', /^vitrine\.yaml:2:1: Tabs/],
    ['a key twice', 'mounts:\n  docs: .\n  docs: .\n', /^vitrine\.yaml:3:3: .*unique/],
    ['several documents', `${MOUNTS}---\n${MOUNTS}`, /^vitrine\.yaml:3:1: .*one document/],
    ['an alias without an anchor', 'mounts:\n  docs: *nowhere\n', /^vitrine\.yaml: .*nowhere/],
  ])('names the line of broken YAML: %s', (_, text, message) => {
    expect(mistake(text)).toMatch(message);
  });

  it('does not unfold aliases without end', () => {
    const grown = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
    for (const [name, before] of ['ba', 'cb', 'dc', 'ed'].map((pair) => [...pair])) {
      grown.push(`${name}: &${name} [${Array(10).fill(`*${before}`).join(', ')}]`);
    }
    expect(mistake(`${grown.join('\n')}\n`)).toMatch(/^vitrine\.yaml: .*alias/);
  });

  it('refuses a file that is larger than a configuration may be', () => {
    expect(mistake(`# ${'x'.repeat(1024 * 1024)}`)).toContain('at most 1048576 bytes');
  });

  it('keeps every mistake on one line', () => {
    for (const text of ['{', '- - -\n: :', '"\n', 'mounts: |\n  a\n  b\n', '? [a]\n: b\n', '&a *a']) {
      expect(mistake(text)).not.toContain('\n');
    }
  });
});

describe('loadConfig', () => {
  it('says that the file does not exist, or that it is a folder', async () => {
    await expect(loadConfig('no/such.yaml')).rejects.toThrow('There is no configuration at no/such.yaml');
    await expect(loadConfig('src')).rejects.toThrow('src is a folder; name the configuration in it');
  });

  it.skipIf(process.platform === 'win32')(
    'says why it cannot be read, and speaks of rights only where one is missing',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'vitrine-load-'));
      try {
        const loop = join(folder, 'loop.yaml');
        await symlink(loop, loop);
        await expect(loadConfig(loop)).rejects.toThrow(`The configuration at ${loop} cannot be read: ELOOP`);
        await expect(loadConfig('x'.repeat(300))).rejects.toThrow(/cannot be read: ENAMETOOLONG$/);
        await expect(loadHostFile(loop)).rejects.toThrow(/cannot be read: ELOOP$/);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );

  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)('asks for the right to read it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'vitrine-load-'));
    try {
      const file = join(folder, 'closed.yaml');
      await writeFile(file, 'mounts: {}', { mode: 0o200 });
      await expect(loadConfig(file)).rejects.toThrow('may not be read; give this user the right to');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('reads no more of a file than a configuration may have', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'vitrine-load-'));
    try {
      const file = join(folder, 'huge.yaml');
      await writeFile(file, '');
      await truncate(file, 3 * 1024 ** 3);
      await expect(loadConfig(file)).rejects.toThrow('huge.yaml: a configuration has at most 1048576 bytes');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('mistakes', () => {
  it('are reported all at once, in the order of the file, each with its place', () => {
    const text = `server:
  nme: x
mounts:
  docs: { path: ./docs, hiden: true, watch: 3 }
  up: { command: x, env: { KEY: "$\{NOT_SET}" } }
  Bad Name: ./more
limits:
  pageSize: -1
`;
    const lines = mistake(text).split('\n');
    expect(lines.map((line) => /^vitrine\.yaml:(\d+):\d+: /.exec(line)?.[1])).toEqual(['2', '4', '4', '5', '6', '8']);
    expect(lines[0]).toContain('unknown key "nme" in server; did you mean "name"?');
    expect(lines[1]).toContain('unknown key "hiden" in mounts.docs; did you mean "hidden"?');
    expect(lines[2]).toContain('mounts.docs.watch: ');
    expect(lines[3]).toContain('mounts.up.env.KEY: the environment variable NOT_SET is not set');
    expect(lines[4]).toContain('mounts.Bad Name: A mount name starts with a lower-case letter');
    expect(lines[5]).toContain('limits.pageSize: ');
  });

  it('are reported up to 20; the rest is counted', () => {
    const keys = Array.from({ length: 30 }, (_, number) => `k${number}: 1`).join('\n');
    const lines = mistake(`mounts: { docs: ./docs }\n${keys}\n`).split('\n');
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe('vitrine.yaml: and 10 more');
  });
});
