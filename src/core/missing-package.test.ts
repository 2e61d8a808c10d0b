/** Tests that the command for a missing package fits where Vitrine runs: by npx, for everybody, in a project, or in a container. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installCommand, missingPackage } from './missing-package.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-install-'));
  await writeFile(join(folder, 'package.json'), '{}');
});
afterAll(() => rm(folder, { recursive: true }));

const FILE = 'node_modules/vitrine/dist/cli/main.js';
const command = (file: string, env = {}): string => installCommand(['pg', '@x/y'], file, env);

it('names the command for the place that Vitrine runs from', () => {
  expect(command(join(folder, FILE))).toBe('npm install pg @x/y');
  expect(command(join(folder, 'node_modules/.pnpm/vitrine@1.0.0', FILE))).toBe('npm install pg @x/y');
  expect(command(join('/usr/lib/of-nobody', FILE))).toBe('npm install -g pg @x/y');
  expect(command('C:\\Users\\a\\AppData\\Roaming\\npm\\node_modules\\vitrine\\dist\\index.js')).toBe(
    'npm install -g pg @x/y',
  );
  expect(command(join(folder, '_npx/0123abcd', FILE))).toBe('npx -y -p vitrine -p pg -p @x/y vitrine');
  expect(command('/clone/dist/cli/main.js')).toBe('npm install --no-save pg @x/y');
  expect(command(join('/usr/lib/of-nobody', FILE), { VITRINE_IMAGE: '1' })).toMatch(/FROM .* RUN npm install -g pg @x/);
});

it('is an `invalid` error by default, with the failure to load the package as its cause', () => {
  const cause = new Error('ERR_MODULE_NOT_FOUND');
  expect(missingPackage('Feeds need a package', ['feedsmith'], { cause })).toMatchObject({ code: 'invalid', cause });
  const later = missingPackage('Feeds need a package', ['feedsmith'], { code: 'unavailable', uri: 'a:///', cause });
  expect(later).toMatchObject({
    code: 'unavailable',
    uri: 'a:///',
    message: expect.stringMatching(/^Feeds need a package: npm install/),
  });
});
