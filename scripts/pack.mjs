/**
 * Makes the package that is published, .release/vitrine-<version>.tgz: the files that `files` of package.json names, with a manifest
 * without scripts and development dependencies. Run `npm run build` before.
 *
 * It bundles the package that reads SQLite, without that package's installation script. The script only checks whether the binary for
 * the system is there, and the bundle has the binaries for all systems. The package also has the pages that the README links to.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RELEASE = join(ROOT, '.release');
const STAGE = join(RELEASE, 'package');
/** The bundled packages and their parts. `without` names a dependency that only building the package needs. */
const BUNDLED = [
  {
    name: '@photostructure/sqlite',
    parts: ['LICENSE', 'README.md', 'dist/index.cjs', 'dist/index.mjs', 'prebuilds'],
    without: 'node-addon-api',
  },
  { name: 'node-gyp-build', parts: ['LICENSE', 'README.md', 'index.js', 'node-gyp-build.js'] },
];

const tarball = pack();
console.log(tarball);

/** Makes the tarball. @returns its path, relative to the root of the repository */
function pack() {
  rmSync(RELEASE, { recursive: true, force: true });
  const manifest = readJson(join(ROOT, 'package.json'));
  for (const { path } of npmJson(['pack', '--dry-run', '--ignore-scripts', '--json'], ROOT)[0].files)
    copy(ROOT, path, STAGE);
  const { scripts: _scripts, devDependencies: _devDependencies, ...published } = manifest;
  writeJson(join(STAGE, 'package.json'), {
    ...published,
    bundleDependencies: BUNDLED.map(({ name }) => name).slice(0, 1),
  });
  for (const { name, parts, without } of BUNDLED) {
    const from = join(ROOT, 'node_modules', name);
    const to = join(STAGE, 'node_modules', name);
    for (const part of parts) copy(from, part, to);
    const { scripts: _own, devDependencies: _dev, gypfile: _gyp, ...rest } = readJson(join(from, 'package.json'));
    if (without !== undefined) delete rest.dependencies[without];
    writeJson(join(to, 'package.json'), rest);
  }
  for (const [, link] of readFileSync(join(STAGE, 'README.md'), 'utf8').matchAll(/\]\(([^)#:\s]+)(?:#[^)\s]*)?\)/g)) {
    if (!existsSync(join(STAGE, link))) throw new Error(`README.md leads to ${link}, which is not in the package`);
  }
  const [{ filename }] = npmJson(['pack', '--ignore-scripts', '--json', '--pack-destination', RELEASE], STAGE);
  return `.release/${filename}`;
}

function copy(from, path, to) {
  mkdirSync(dirname(join(to, path)), { recursive: true });
  cpSync(join(from, path), join(to, path), { recursive: true });
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}

function npmJson(args, cwd) {
  return JSON.parse(execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }));
}
