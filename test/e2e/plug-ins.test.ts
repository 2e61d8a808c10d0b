/** Packages that add kinds of mounts to a configuration, installed and loaded as an operator would do it. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how references are written
import { existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/configured/index.ts';
import { createVitrine } from '../../src/index.ts';
import { vitrine } from '../cli/here.ts';
import { failure, missing } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, DIAGONAL, MATRIX, ROOT } from './harness.ts';
import { until } from './waiting.ts';

const NOTES = `
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { defineProvider, notFound } from 'vitrine';
import { defineKind } from 'vitrine/config';
import { z } from 'zod';

export default defineKind({
  name: 'notes',
  settings: z.strictObject({ file: z.string(), token: z.string().min(4), path: z.string().default('note') }),
  async create({ file, token, path }, { name, base, log, signal }) {
    if (token === 'wrong') throw new Error('the token is refused');
    if (token === 'none!') return {};
    log.info('opened', { name, token, waits: !signal.aborted });
    const text = await readFile(resolve(base, file), 'utf8');
    return defineProvider({
      scheme: 'note',
      list: () => [{ uri: 'note:' + path, mimeType: 'text/plain' }],
      read(uri) {
        if (uri !== 'note:' + path) throw notFound(uri);
        return text;
      },
    });
  },
});
`;

/** A kind in plain JavaScript with JSON Schema, which imports nothing of Vitrine. */
const PLAIN = `
const list = async () => ({ resources: [] });
module.exports = {
  name: 'plain',
  settings: {
    type: 'object',
    properties: { size: { type: 'integer' }, of: { enum: ['a', 'b'] } },
    required: ['size'],
    additionalProperties: false,
  },
  create: () => ({ name: 'plain', features: { schemes: ['plain'] }, list, metadata: list, read: list }),
};
`;

/** A library with Standard Schema other than Zod. */
const CUSTOM = `
const validate = (value) => 'count' in value ? { value } : { issues: [{ message: 'is missing', path: [{ key: 'count' }] }] };
export default { name: 'custom', settings: { '~standard': { version: 1, vendor: 'own', validate } }, create() {} };
`;

const manifest = (more: object): string => JSON.stringify({ version: '1.0.0', ...more });
const kindNamed = (name: string): string => `export default { name: '${name}', settings: {}, create() {} };`;

let folder: Folder;
beforeAll(async () => {
  folder = await temporaryFolder({
    'hours.txt': '10 to 17',
    'later.txt': '11 to 18',
    'node_modules/vitrine-provider-notes/package.json': manifest({ type: 'module', exports: './index.js' }),
    'node_modules/vitrine-provider-notes/index.js': NOTES,
    'node_modules/@example/plain/package.json': manifest({ main: 'index.cjs' }),
    'node_modules/@example/plain/index.cjs': PLAIN,
    'node_modules/only-import/package.json': manifest({ exports: { import: './index.js' } }),
    'kinds/custom.mjs': CUSTOM,
    'kinds/notes.mjs': kindNamed('notes'),
    'kinds/sql.mjs': kindNamed('sql'),
    'kinds/loud.mjs': kindNamed('LOUD'),
    'kinds/none.mjs': 'export const kind = 1;',
    'kinds/broken.mjs': "throw new Error('it is broken');",
    'kinds/leaves.mjs': `import { writeFileSync } from 'node:fs'; writeFileSync(new URL('./ran', import.meta.url), ''); ${kindNamed('leaves')}`,
  });
  await symlink(ROOT, folder.at('node_modules/vitrine'));
  await symlink(`${ROOT}node_modules/zod`, folder.at('node_modules/zod'));
  await mkdir(folder.at('elsewhere'));
});
afterAll(() => folder[Symbol.asyncDispose]());

const TOKEN = 'a-token-of-notes';
const notes = { kind: 'notes', file: 'hours.txt', token: TOKEN };
const kinds = ['vitrine-provider-notes'];

const textOf = async (on: Connected, uri: string): Promise<string | undefined> =>
  (await on.request<{ contents: { text?: string }[] }>('resources/read', { uri })).contents[0]?.text;

describe.each(MATRIX)('a kind of a package, over $transport, $era', ({ transport, era }) => {
  it("is mounted with its settings, and its errors are treated like those of Vitrine's providers", async () => {
    const file = await writeConfig(folder, { kinds, mounts: { wiki: notes } }, `${transport}-${era}.yaml`);
    await using on = await connect(transport, era, ['--config', file]);
    expect(await on.request('resources/list')).toMatchObject({ resources: [{ uri: 'wiki+note:note' }] });
    expect(await textOf(on, 'wiki+note:note')).toBe('10 to 17');
    const refused = await failure(on.request('resources/read', { uri: 'wiki+note:none' }));
    expect(refused).toMatchObject(missing(era, 'wiki+note:none'));
  });
});

describe.each(DIAGONAL)('a changed configuration, over $transport, $era', ({ transport, era }) => {
  it('can add kinds and settings, and is refused if these are wrong', async () => {
    const name = `live-${era}/vitrine.yaml`;
    const file = await writeConfig(folder, { mounts: { docs: '..' } }, name);
    await using on = await connect(transport, era, ['--config', file]);
    const wiki = { ...notes, file: '../hours.txt' };
    await writeConfig(folder, { kinds, mounts: { docs: '..', wiki } }, name);
    await until(async () => (await textOf(on, 'wiki+note:note').catch(() => '')) === '10 to 17', 'the new mount');
    await writeConfig(folder, { kinds, mounts: { docs: '..', wiki: { ...wiki, fil: 'x' } } }, name);
    await until(() => on.stderr().includes('in mounts.wiki; did you mean'), 'the reason');
    expect(await textOf(on, 'wiki+note:note')).toBe('10 to 17');
    await writeConfig(folder, { kinds, mounts: { docs: '..', wiki: { ...wiki, file: '../later.txt' } } }, name);
    await until(async () => (await textOf(on, 'wiki+note:note')) === '11 to 18', 'the changed settings');
  });
});

it('is served and checked by the command, which hides the value of a reference', async () => {
  const file = await writeConfig(
    folder,
    { kinds, mounts: { wiki: { ...notes, token: '${NOTES_TOKEN}' } } },
    'env.yaml',
  );
  const { status, stdout } = await vitrine(['check', '--config', file], ROOT, { NOTES_TOKEN: TOKEN });
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'ok  wiki  wiki+note:note\n' });
  const wrong = await vitrine(['check', '--config', file], ROOT, { NOTES_TOKEN: 'wrong' });
  expect(wrong).toMatchObject({
    status: 2,
    stderr: 'vitrine: mounts.wiki: notes cannot be opened: the token is refused\n',
  });
  const served = createVitrine(await loadConfig(file, { env: { NOTES_TOKEN: TOKEN } }));
  expect(served.hide?.(`with ${TOKEN}`)).toBe('with ${NOTES_TOKEN}');
  expect(await served.read('wiki+note:note')).toMatchObject([{ text: '10 to 17' }]);
  await served.close();
});

async function mistake(config: object): Promise<string> {
  const file = await writeConfig(folder, config, 'vitrine.yaml');
  return loadConfig(file, { env: {} }).then(
    () => 'no mistake',
    (error: Error) => error.message,
  );
}

it('reports all mistakes of the settings at once, like other mistakes of a configuration', async () => {
  const mounts = {
    one: { kind: 'notes', fil: 1, token: 'abc' },
    two: { kind: 'plain', size: 'x', of: 'c', more: 1 },
    three: { kind: 'custom' },
    four: { kind: 'notse' },
    five: { kind: 'git' },
    six: { kind: 'notes', file: 'hours.txt', token: '${NONE}' },
    seven: { ...notes, prefix: 'some' },
    eight: { pth: '.' },
  };
  const all = { kinds: [...kinds, '@example/plain', './kinds/custom.mjs'], mounts };
  expect((await mistake(all)).split('\n').map((line) => line.replace(/^vitrine\.yaml:\d+:\d+: /, ''))).toEqual([
    'unknown key "fil" in mounts.one; did you mean "file"?',
    'mounts.one.token: Too small: expected string to have >=4 characters',
    'mounts.two: unknown field "more"',
    'mounts.two.size: must be integer',
    'mounts.two.of: must be equal to one of the allowed values',
    'mounts.three.count: is missing',
    'mounts.four.kind: no package under kinds adds "notse"; did you mean "notes"?',
    'mounts.five.kind: "git" is built in and needs no kind; say git: and what is mounted',
    'mounts.six.token: the environment variable NONE is not set; set it, or give a default, as in ${NONE:-default}',
    'mounts.seven.prefix: Invalid option: expected one of "name"|"none"',
    'unknown key "pth" in mounts.eight; did you mean "path"?',
  ]);
});

const MISTAKES: readonly (readonly [string, readonly unknown[], string])[] = [
  [
    'is not installed',
    ['vitrine-provider-none'],
    'kinds.0: vitrine-provider-none is not installed; for this configuration alone: npm install --prefix ',
  ],
  ['is a built-in module of Node.js', ['fs'], 'kinds.0: fs is not installed'],
  ['is a path to nothing', ['./kinds/nowhere.mjs'], 'kinds.0: there is no module at ./kinds/nowhere.mjs'],
  [
    'has no "default" in its exports',
    ['only-import'],
    'kinds.0: only-import is not exported by its package; its exports need "default" for it',
  ],
  ['throws', ['./kinds/broken.mjs'], 'kinds.0: ./kinds/broken.mjs cannot be loaded: it is broken'],
  [
    'has no kind',
    ['./kinds/none.mjs'],
    'kinds.0: ./kinds/none.mjs has no kind as its default export; it is made with defineKind',
  ],
  ['has the name of a built-in kind', ['./kinds/sql.mjs'], 'kinds.0: ./kinds/sql.mjs adds "sql", which is built in'],
  [
    'has a name that is no word',
    ['./kinds/loud.mjs'],
    'kinds.0: ./kinds/loud.mjs adds a kind whose name is not made of',
  ],
  [
    'adds the same kind as another one',
    [...kinds, './kinds/notes.mjs'],
    'kinds.1: vitrine-provider-notes and ./kinds/notes.mjs both add "notes"; leave one out',
  ],
  [
    'is a URL',
    ['data:text/javascript,1'],
    'kinds.0: is the name of a package, as in vitrine-provider-notion, or a path',
  ],
  ['is a number', [1], 'kinds.0: Invalid input: expected string'],
];

it.each(MISTAKES)('reports with its place that a package %s', async (_, named, message) => {
  expect(await mistake({ kinds: named, mounts: { wiki: notes } })).toMatch(/^vitrine\.yaml:\d+:\d+: /);
  expect(await mistake({ kinds: named, mounts: { wiki: notes } })).toContain(message);
});

it('reports with its place that no package is named, and that a package makes no provider', async () => {
  expect(await mistake({ mounts: { wiki: notes } })).toContain(
    'mounts.wiki.kind: no package under kinds adds "notes"; name the one that does, as in kinds: [vitrine-provider-notes]',
  );
  expect(await mistake({ kinds, mounts: { wiki: { ...notes, token: 'none!' } } })).toContain(
    'mounts.wiki: notes made no provider',
  );
});

it('loads no package that no mount needs, none for a command that serves nothing, and none that a served folder names', async () => {
  const leaves = { kinds: ['./kinds/leaves.mjs'], mounts: { docs: './elsewhere' } };
  await folder.write('elsewhere/vitrine.yaml', JSON.stringify({ ...leaves, kinds: ['../kinds/leaves.mjs'] }));
  const file = await writeConfig(folder, leaves, 'unused.yaml');
  await createVitrine(await loadConfig(file)).close();
  const used = await writeConfig(folder, { ...leaves, mounts: { it: { kind: 'leaves' } } }, 'used.yaml');
  expect(await vitrine(['authorize', 'it', '--config', used])).toMatchObject({ status: 2 });
  expect(existsSync(folder.at('kinds/ran'))).toBe(false);
});
