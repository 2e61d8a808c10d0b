/** Imports point one way: each part of `src` imports only the parts that `ALLOWED` names for it. */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));
const PLUG_INS = fileURLToPath(new URL('../plug-ins', import.meta.url));

/** The parts that each part may import, beside itself. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  core: ['protocol'],
  connection: ['protocol', 'core'],
  providers: ['protocol', 'core', 'connection'],
  layers: ['protocol', 'core'],
  frontends: ['protocol', 'core'],
  search: ['protocol', 'core', 'providers'],
  testing: ['protocol', 'core', 'providers'],
  engine: ['protocol', 'core', 'layers', 'frontends'],
  serving: ['protocol', 'core', 'frontends', 'engine'],
  config: ['protocol', 'core', 'providers', 'layers'],
  configured: ['protocol', 'core', 'layers', 'engine', 'config', 'search'],
  client: ['protocol', 'core', 'connection'],
  explorer: ['protocol', 'core', 'frontends'],
  library: ['protocol', 'core', 'frontends', 'engine'],
  'plug-in': ['protocol', 'core', 'layers', 'providers'],
  'vitrine.ts': ['engine', 'serving', 'library'],
  'sep-2093': ['protocol', 'core', 'client'],
  'index.ts': ['protocol', 'core', 'layers', 'frontends', 'serving', 'vitrine.ts'],
  cli: [
    'protocol',
    'core',
    'connection',
    'providers',
    'layers',
    'frontends',
    'serving',
    'config',
    'configured',
    'client',
    'engine',
  ],
};

/** Few rooms import the SDK: its server where Vitrine serves, its client where Vitrine connects to others. */
const SDK = '@modelcontextprotocol/';

const maySee = ({ file, from, target }: Import): boolean =>
  from === 'serving' ||
  ((['connection', 'client', 'sep-2093'].includes(from) || file.startsWith('providers/upstream/')) &&
    /^@modelcontextprotocol\/client(\/|$)/.test(target));

interface Import {
  readonly file: string;
  readonly from: string;
  readonly target: string;
}

async function sourceFiles(folder = SRC): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.test.ts'));
}

async function imports(folder = SRC): Promise<Import[]> {
  const files = await sourceFiles(folder);
  const found = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(folder, file), 'utf8');
      const targets = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '');
      return targets.map((target): Import => ({ file, from: partOf(file), target }));
    }),
  );
  return found.flat();
}

/** Gives the path of an import, relative to `folder`. */
const pathOf = (folder: string, file: string, target: string): string =>
  relative(folder, resolve(dirname(join(folder, file)), target));

const partOf = (file: string): string => file.split('/', 1)[0] ?? file;

describe('contexts', () => {
  it('get another signal in one way, which allows many listeners', async () => {
    const files = await sourceFiles();
    const texts = await Promise.all(
      files.map(async (file) => ({ file, text: await readFile(join(SRC, file), 'utf8') })),
    );
    const byHand = texts.filter(({ text }) => /\{ \.\.\.(?:ctx|context)\b[^{}]*\bsignal\b[^{}]*\}/.test(text));
    expect(byHand.map(({ file }) => file).filter((file) => !file.startsWith('testing/broken/'))).toEqual([
      'core/context.ts',
    ]);
  });
});

describe('layers', async () => {
  it('change the entries of lists in one way: if a layer fails at an entry, only that entry is lost', async () => {
    const files = (await sourceFiles()).filter((file) => file.startsWith('layers/'));
    const own: string[] = [];
    for (const file of files) {
      const text = await readFile(join(SRC, file), 'utf8');
      if (/\bresource(?:s|Templates):? (?:= )?[^\n;]*\.(?:map|flatMap)\(/.test(text)) own.push(file);
    }
    // Values of a completion are not entries of a list.
    expect(own.filter((file) => file !== 'layers/roots/index.ts')).toEqual([]);
  });
});

describe('imports', async () => {
  const all = await imports();

  it('come only from parts of src that this test knows', () => {
    expect([...new Set(all.map((each) => each.from))].filter((part) => !(part in ALLOWED))).toEqual([]);
  });

  it('point one way', () => {
    const wrong = all
      .filter((each) => each.target.startsWith('.'))
      .map((each) => ({ ...each, to: partOf(pathOf(SRC, each.file, each.target)) }))
      .filter((each) => each.to !== each.from && !ALLOWED[each.from]?.includes(each.to));
    expect(wrong.map((each) => `${each.file} imports ${each.target}`)).toEqual([]);
  });

  it('form no circle: no two files import each other, directly or indirectly, not even for types', () => {
    const targets = new Map<string, string[]>();
    for (const { file, target } of all) {
      if (!target.startsWith('.')) continue;
      const to = pathOf(SRC, file, target);
      targets.set(file, [...(targets.get(file) ?? []), to]);
    }
    const done = new Set<string>();
    const circles: string[] = [];
    function follow(file: string, way: readonly string[]): void {
      if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' -> '));
      if (done.has(file) || way.includes(file)) return;
      for (const to of targets.get(file) ?? []) follow(to, [...way, file]);
      done.add(file);
    }
    for (const file of targets.keys()) follow(file, []);
    expect(circles).toEqual([]);
  });

  it('of the client, of connections and of SEP-2093 need nothing of Node.js, except in node and testing', () => {
    const own = all.filter(({ file }) => /^(?:client|connection|sep-2093)\/(?!(?:node|testing)\/)/.test(file));
    const reached = new Set(own.map(({ file }) => file));
    // The loop also visits paths that are added meanwhile.
    for (const file of reached) {
      const targets = all.filter((each) => each.file === file && each.target.startsWith('.'));
      for (const { target } of targets) reached.add(pathOf(SRC, file, target));
    }
    expect(reached.size).toBeGreaterThan(10);
    const wrong = all.filter(({ file, target }) => reached.has(file) && target.startsWith('node:'));
    expect(wrong.map((each) => `${each.file} imports ${each.target}`)).toEqual([]);
  });

  it('of the explorer in the browser, direct and indirect, need nothing of Node.js', () => {
    const reached = new Set(all.filter(({ from }) => from === 'explorer').map(({ file }) => file));
    // The loop also visits paths that are added meanwhile.
    for (const file of reached) {
      const targets = all.filter((each) => each.file === file && each.target.startsWith('.'));
      for (const { target } of targets) reached.add(relative(SRC, resolve(dirname(join(SRC, file)), target)));
    }
    const wrong = all.filter(({ file, target }) => reached.has(file) && target.startsWith('node:'));
    expect(wrong.map((each) => `${each.file} imports ${each.target}`)).toEqual([]);
  });

  it('of the SDK are in serving, and of its client in connection, upstream, client and sep-2093', () => {
    const wrong = all.filter((each) => each.target.startsWith(SDK) && !maySee(each));
    expect(wrong.map((each) => `${each.file} imports ${each.target}`)).toEqual([]);
  });

  it('of connections to other servers are in upstream only, among the providers', () => {
    const wrong = all.filter(
      ({ file, target }) => /^providers\/(?!upstream\/)/.test(file) && target.includes('/connection/'),
    );
    expect(wrong.map((each) => `${each.file} imports ${each.target}`)).toEqual([]);
  });

  it('of one provider or layer do not lead to another one', () => {
    const inFolder = all.filter((each) => ['providers', 'layers'].includes(each.from) && each.target.startsWith('.'));
    const folderOf = (path: string): string => path.split('/').slice(0, 2).join('/');
    const wrong = inFolder.filter((each) => {
      const target = pathOf(SRC, each.file, each.target);
      const isFolder = target.split('/').length > 2;
      return isFolder && partOf(target) === each.from && folderOf(target) !== folderOf(each.file);
    });
    expect(wrong.map((each) => `${each.file} imports ${each.target}`)).toEqual([]);
  });
});

describe('plug-ins', async () => {
  const inPlugIns = await imports(PLUG_INS);

  it('import Vitrine only by the exports of the package, and do not import each other', async () => {
    const { exports } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
    const wrong = inPlugIns.filter(({ file, from, target }) => {
      if (target.startsWith('.')) return partOf(pathOf(PLUG_INS, file, target)) !== from;
      return /^vitrine(?:\/|$)/.test(target) && !Object.hasOwn(exports, target.replace('vitrine', '.'));
    });
    expect(inPlugIns.some(({ target }) => target === 'vitrine/plug-in')).toBe(true);
    expect(wrong.map((each) => `${each.file} imports ${each.target}`)).toEqual([]);
  });

  it('are imported by no file of src, which loads them by name', async () => {
    const all = await imports();
    const wrong = all.filter(
      ({ file, target }) =>
        /^vitrine(?:\/|$)/.test(target) || (target.startsWith('.') && pathOf(SRC, file, target).startsWith('..')),
    );
    expect(wrong.map((each) => `${each.file} imports ${each.target}`)).toEqual([]);
  });
});

/** Questions that have to be answered in one place: the text of an answer, and the files that may contain it. */
const QUESTIONS: readonly (readonly [question: string, text: RegExp, answeredIn: readonly string[]])[] = [
  [
    'which mount a published URI belongs to',
    /features\.schemes\.includes\(|indexOf\('\+'\)/,
    ['core/mounts/resolver.ts'],
  ],
  ['what a glob means', /'(?:pico|micro|mini)match'|\bmakeRe\b/, []],
  ['what is decided', /\bpolicy\.decide\(/, ['layers/access/decisions.ts']],
  ['in which form URIs are compared', /\bcomparableUri\b/, ['core/glob/index.ts', 'core/uri/spellings.ts']],
  [
    'which spellings another server takes for one',
    /\b(?:hasDotSegments|foreignSpellings)\(/,
    ['core/skill-entry.ts', 'core/uri/decoding.ts', 'core/uri/foreign.ts', 'layers/access/names.ts'],
  ],
];

describe('a question with one place', () => {
  it.each(QUESTIONS)('%s', async (_question, text, answeredIn) => {
    const files = await sourceFiles();
    const found = await Promise.all(
      files.map(async (file) => (text.test(await readFile(join(SRC, file), 'utf8')) ? [file] : [])),
    );
    expect(found.flat().sort()).toEqual([...answeredIn].sort());
  });
});
