/**
 * Installs what other makers wrote and the checks need: `servers`, MCP servers that the tests put behind the gateway
 * (test/interop/servers), `clients`, which the tests let at Vitrine (test/interop/clients; those in Python and Rust come with
 * `servers`), `rivals`, gateways and servers that the benchmarks measure (bench/rivals), and `deploy`, what reads charts,
 * manifests and compositions (test/deploy). All when none is named.
 * It installs nothing again that is in place as its lock says. It leaves out the parts in Python where no Python can make a
 * virtual environment, and those in Go and Rust where there is no Go or Cargo, and says so in a line. What a registry does not
 * give is asked for again.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { download, fail, installNode, once, run, WINDOWS } from './installing.mjs';

const FOLDERS = {
  servers: '../test/interop/servers',
  clients: '../test/interop/clients',
  rivals: '../bench/rivals',
  deploy: '../test/deploy',
};
/** The program in Go of each, and how it is built. Helm is large and runs for moments: it is compiled as fast as can be. */
const GO = {
  servers: { program: 'server', of: 'a server of the Go SDK', flags: [] },
  clients: { program: 'client', of: 'a client of the Go SDK', flags: [] },
  rivals: { program: 'server', of: 'a server of the Go SDK', flags: [] },
  deploy: {
    program: 'deploy',
    of: 'a reader of charts and compositions',
    flags: ['-gcflags=all=-N -l', '-ldflags=-s -w'],
  },
};
/** Cargo keeps here what it compiled, for every clone on this machine, as Go and npm do by themselves. */
const CARGO_CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'vitrine-interop', 'cargo');
const PYTHON = WINDOWS ? 'python' : 'python3';
const named = process.argv.slice(2);
const unknown = named.find((name) => !(name in FOLDERS));
if (unknown !== undefined) fail(`There is no "${unknown}" to install. Try one of: ${Object.keys(FOLDERS).join(', ')}.`);

for (const name of named.length > 0 ? named : Object.keys(FOLDERS)) {
  const folder = fileURLToPath(new URL(FOLDERS[name], import.meta.url));
  if (existsSync(join(folder, 'package.json'))) installNode(name, folder);
  for (const requirements of requirementsOf(folder)) installPython(name, folder, requirements);
  if (existsSync(join(folder, 'go'))) buildGo(name, join(folder, 'go'));
  if (existsSync(join(folder, 'rust/Cargo.toml'))) buildRust(name, join(folder, 'rust'));
}

/**
 * Installs `python/requirements<suffix>.txt` in `.venv<suffix>`, held to the versions of `constraints<suffix>.txt`.
 * @param {string} name
 * @param {string} folder
 * @param {string} requirements the file's name
 */
function installPython(name, folder, requirements) {
  const suffix = basename(requirements, '.txt').slice('requirements'.length);
  const venv = join(folder, `.venv${suffix}`);
  const constraints = join(folder, 'python', `constraints${suffix}.txt`);
  const files = [join(folder, 'python', requirements), constraints];
  once(`${name}: Python packages of ${requirements}`, venv, files, () => {
    rmSync(venv, { recursive: true, force: true });
    const made = run(PYTHON, ['-m', 'venv', venv], folder);
    if (made.status !== 0) return `${PYTHON} cannot make a virtual environment`;
    // Kept from git, and from all that reads what git ignores.
    writeFileSync(join(venv, '.gitignore'), '*\n');
    const python = join(venv, WINDOWS ? 'Scripts/python.exe' : 'bin/python');
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--only-binary', ':all:'];
    const done = download(python, [...pip, '-r', files[0], '-c', constraints], folder);
    if (done.status === 0) return undefined;
    rmSync(venv, { recursive: true, force: true });
    return `pip failed: ${done.output.trim().split('\n').at(-1)}`;
  });
}

/**
 * Builds the program in `go`, or the one of a module that its go.mod names as a tool, as `go/.built/<program>`.
 * @param {string} name
 * @param {string} folder
 */
function buildGo(name, folder) {
  const files = ['go.mod', 'go.sum', 'main.go'].map((file) => join(folder, file)).filter((file) => existsSync(file));
  const { program, of, flags } = GO[name];
  const built = join(folder, '.built');
  once(`${name}: ${of}`, built, files, () => {
    makeIgnored(built);
    const done = download(
      'go',
      ['build', ...flags, '-o', join(built, program), existsSync(join(folder, 'main.go')) ? '.' : 'tool'],
      folder,
    );
    return leftOutBy('go', done);
  });
}

/**
 * Builds the programs that the Cargo.toml in `rust` names, as `rust/.built/<name>`: those to be measured to be fast, and the
 * others to be built soon.
 * @param {string} name
 * @param {string} folder
 */
function buildRust(name, folder) {
  const manifest = readFileSync(join(folder, 'Cargo.toml'), 'utf8');
  const programs = [...manifest.matchAll(/^\[\[bin\]\]\nname = "(.+)"\npath = "(.+)"$/gm)];
  const files = ['Cargo.toml', 'Cargo.lock', ...programs.map(([, , path]) => path)].map((file) => join(folder, file));
  const built = join(folder, '.built');
  once(`${name}: ${programs.map(([, program]) => `a ${program}`).join(' and ')} of the Rust SDK`, built, files, () => {
    makeIgnored(built);
    const [kind, how] = name === 'rivals' ? ['release', ['--release']] : ['debug', []];
    const done = download('cargo', ['build', '--quiet', '--locked', '--target-dir', CARGO_CACHE, ...how], folder);
    if (done.status !== 0) return leftOutBy('cargo', done);
    const suffix = WINDOWS ? '.exe' : '';
    for (const [, program] of programs) {
      copyFileSync(join(CARGO_CACHE, kind, `${program}${suffix}`), join(built, `${program}${suffix}`));
    }
  });
}

/**
 * Makes a folder that is kept from git, and from all that reads what git ignores.
 * @param {string} folder
 */
function makeIgnored(folder) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '.gitignore'), '*\n');
}

/**
 * Why there is no program of it, where there is none.
 * @param {string} tool
 * @param {ReturnType<typeof run>} done
 */
function leftOutBy(tool, done) {
  if (done.missing) return `there is no ${tool}`;
  return done.status === 0 ? undefined : `${tool} build failed: ${done.output.trim().split('\n').at(-1)}`;
}

/** @param {string} folder */
function requirementsOf(folder) {
  const python = join(folder, 'python');
  return existsSync(python) ? readdirSync(python).filter((file) => /^requirements.*\.txt$/.test(file)) : [];
}
