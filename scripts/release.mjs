/**
 * Makes all parts of a release in .release, and publishes them:
 *
 *   vitrine-<version>.tgz        the package for npm; vitrine.tgz is the same, for the Dockerfile
 *   vitrine-<version>.mcpb       the bundle for hosts that install one, with programs for macOS, Windows and Linux
 *   vitrine-<version>.cdx.json   the list of its parts (SBOM, CycloneDX)
 *   server.json                  for the MCP registry, with the bundle's digest
 *   notes.md                     the part of the changelog for this version, for the page of the release
 *
 * Publishing needs `npm login` or a workflow of the repository (provenance), docker, gh, curl and mcp-publisher. A run after one that
 * failed skips what is published already. With `--dry-run` the script makes and checks everything, and prints what it would publish.
 * With `--built` as well, it uses the existing dist.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publish } from './release/publish.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RELEASE = join(ROOT, '.release');
/** The systems whose ripgrep the bundle contains. */
const SYSTEMS = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win32-arm64', 'win32-x64'];

/** The most characters of the page of a release. */
const MAX_NOTES = 125_000;

const dryRun = process.argv.includes('--dry-run');
const manifest = readJson('package.json');
const { version } = manifest;
const server = readJson('server.json');
checkVersions();
if (!dryRun || !process.argv.includes('--built')) run('npm', ['run', 'build']);
const tarball = run('node', ['scripts/pack.mjs']).trim();
copyFileSync(join(ROOT, tarball), join(RELEASE, 'vitrine.tgz'));
const files = { tarball, bundle: `.release/vitrine-${version}.mcpb`, sbom: `.release/vitrine-${version}.cdx.json` };
makeBundle();
writeFileSync(join(ROOT, '.release/notes.md'), releaseNotes());
writeServer();
publish(
  { root: ROOT, name: manifest.name, version, image: imageName(), server: server.name, files, writeServer },
  dryRun,
);

/** Checks that all files name one version, and that a release has its part of the changelog and no uncommitted changes. */
function checkVersions() {
  const image = imageName();
  const found = {
    'server.json': server.version,
    'server.json, npm': server.packages.find(({ registryType }) => registryType === 'npm').version,
    'server.json, image': image.slice(image.lastIndexOf(':') + 1),
    'scripts/bundle/manifest.json': readJson('scripts/bundle/manifest.json').version,
  };
  for (const [place, other] of Object.entries(found)) {
    if (other !== version) throw new Error(`${place} has version ${other}, and package.json ${version}`);
  }
  if (server.name !== manifest.mcpName)
    throw new Error('server.json and mcpName of package.json name different servers');
  if (dryRun) return;
  if (!readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').includes(`\n## ${version}`)) {
    throw new Error(`CHANGELOG.md has no part "## ${version}"; give "## Unreleased" that name`);
  }
  const changes = run('git', ['status', '--porcelain']);
  if (changes !== '') throw new Error(`There are changes that are not committed:\n${changes}`);
}

/** The part of the changelog for this version, with links to its tag. */
function releaseNotes() {
  const heading = dryRun ? 'Unreleased' : version;
  const parts = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').split(/^## /m);
  const part = parts.find((each) => each.startsWith(heading));
  if (part === undefined) throw new Error(`CHANGELOG.md has no part "## ${heading}"`);
  const place = `${server.repository.url}/blob/v${version}`;
  const changes = part
    .slice(part.indexOf('\n') + 1)
    .trim()
    .replace(/\]\((?![a-z]+:|#)/g, `](${place}/`);
  const notes = `\`\`\`sh\nnpx -y vitrine@${version} ./docs\n\`\`\`\n\n${changes}\n\n[All versions](${place}/CHANGELOG.md)\n`;
  if (notes.length > MAX_NOTES)
    throw new Error(`The notes have ${notes.length} characters, and a page holds ${MAX_NOTES}`);
  return notes;
}

/** Installs the tarball into the bundle, with the programs for all systems, and checks that it runs from there. */
function makeBundle() {
  const folder = join(RELEASE, 'bundle');
  mkdirSync(folder, { recursive: true });
  // Otherwise npm would take the folder above for the project.
  writeJson('.release/bundle/package.json', { name: 'vitrine-bundle', version, private: true });
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', join(ROOT, tarball)], folder);
  writeFileSync(
    join(ROOT, files.sbom),
    run('npm', ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'], folder),
  );
  const ripgrep = readJson('.release/bundle/node_modules/@vscode/ripgrep/package.json').optionalDependencies;
  const programs = SYSTEMS.map((system) => `@vscode/ripgrep-${system}`).map((name) => `${name}@${ripgrep[name]}`);
  run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--no-save', '--loglevel=error', '--force', ...programs],
    folder,
  );
  copyFileSync(join(ROOT, 'scripts/bundle/manifest.json'), join(folder, 'manifest.json'));
  const mcpb = join(ROOT, 'node_modules/.bin/mcpb');
  run(mcpb, ['validate', join(folder, 'manifest.json')]);
  run(mcpb, ['pack', folder, join(ROOT, files.bundle)]);
  const command = join(folder, readJson('scripts/bundle/manifest.json').server.entry_point);
  const listed = run('node', ['dist/cli/main.js', 'ls', `node ${command} serve examples/museum/office`]);
  if (!listed.includes('conservation-report.pdf')) throw new Error(`What is in the bundle serves nothing:\n${listed}`);
}

function imageName() {
  return server.packages.find(({ registryType }) => registryType === 'oci').identifier;
}

function writeServer() {
  writeJson('.release/server.json', { ...server, packages: [...server.packages, bundlePackage()] });
}

function bundlePackage() {
  const url = `${server.repository.url}/releases/download/v${version}/vitrine-${version}.mcpb`;
  const fileSha256 = createHash('sha256')
    .update(readFileSync(join(ROOT, files.bundle)))
    .digest('hex');
  return { registryType: 'mcpb', identifier: url, version, fileSha256, transport: { type: 'stdio' } };
}

function run(command, args, cwd = ROOT) {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

function readJson(path) {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
}

function writeJson(path, value) {
  writeFileSync(join(ROOT, path), `${JSON.stringify(value, null, 2)}\n`);
}
