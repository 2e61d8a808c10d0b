/** `npm run new provider` makes a provider that type-checks, can be mounted, and passes the contract. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** A name that comes after those of all other providers, so that its import is the last one. */
const NAME = 'zebra';

/** The files that the script reads and changes. The rest of the tree is linked. */
const COPIED = [
  'package.json',
  'scripts/new.mjs',
  'scripts/new',
  'scripts/check-options.mjs',
  'docs/providers/index.md',
  'docs/guide/configuration.md',
  'src/config',
];

const copy = await realpath(await mkdtemp(join(tmpdir(), 'vitrine-new-')));
afterAll(() => rm(copy, { recursive: true }));
const at = (path: string): string => join(copy, path);

for (const path of COPIED) {
  await mkdir(dirname(at(path)), { recursive: true });
  await cp(join(ROOT, path), at(path), { recursive: true });
}
await mkdir(at('src/providers'));
for (const folder of ['', 'src', 'src/providers'])
  for (const name of folder === '' ? ['node_modules'] : await readdir(join(ROOT, folder)))
    if (name !== 'config' && name !== 'providers') await symlink(join(ROOT, folder, name), at(join(folder, name)));

const make = (...args: readonly string[]) => promisify(execFile)(process.execPath, [at('scripts/new.mjs'), ...args]);
await make('provider', NAME);
// Its laws become tests of this file.
await import(pathToFileURL(at(`src/providers/${NAME}/${NAME}.contract.test.ts`)).href);

it('has no type errors', () => {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, ROOT);
  const files = [`src/providers/${NAME}/${NAME}.contract.test.ts`, `src/config/kinds/${NAME}.ts`].map(at);
  const found = ts.getPreEmitDiagnostics(ts.createProgram(files, options));
  expect(found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
});

it('is mounted by its key, and has a page with its options', async () => {
  const { parseConfig } = await import(pathToFileURL(at('src/config/load.ts')).href);
  const { mountsOf } = await import(pathToFileURL(at('src/config/mounts.ts')).href);
  const { mounts } = parseConfig(`mounts: { it: { ${NAME}: { hello: Hello } } }`, 'vitrine.yaml');
  expect(await mountsOf(mounts, { base: copy })).toMatchObject([{ name: 'it', provider: { name: 'it' } }]);
  expect(await readFile(at(`docs/providers/${NAME}.md`), 'utf8')).toContain(`| \`${NAME}\` |`);
  for (const page of ['docs/providers/index.md', 'docs/guide/configuration.md'])
    expect(await readFile(at(page), 'utf8')).toContain(`${NAME}.md)`);
});

it('is not made a second time, nor under an invalid name', async () => {
  await expect(make('provider', NAME)).rejects.toMatchObject({ stderr: `src/providers/${NAME} is there already\n` });
  await expect(make('provider', '../x')).rejects.toMatchObject({ stderr: expect.stringContaining('is no name') });
  await expect(make()).rejects.toMatchObject({ stderr: expect.stringContaining('npm run new provider mail') });
});
