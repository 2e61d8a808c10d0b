/**
 * Installs programs of other makers that the checks need:
 *
 *   servers  MCP servers that the tests put behind the gateway (test/interop/servers)
 *   clients  clients that the tests connect to Vitrine (test/interop/clients; those in Python and Rust come with `servers`)
 *   rivals   gateways and servers that the benchmarks measure (bench/rivals)
 *   deploy   programs that read charts, manifests and compositions (test/deploy)
 *
 * Without arguments it installs all of them. A part that is installed as its lock file says is not installed again. If Python cannot make
 * a virtual environment, or Go or Cargo is missing, the parts that need it are left out, with a line that says so. A failed download is
 * tried again.
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
/** The Go program of each part, and its build flags. Helm is large but runs only briefly, so its flags make the build fast. */
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
/** The folder in which Cargo keeps compiled code for all clones on this machine. Go and npm have such a folder by default. */
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
 * Installs `python/requirements<suffix>.txt` in `.venv<suffix>`, with the versions of `constraints<suffix>.txt`.
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
    // Git ignores the folder, and so do the tools that follow `.gitignore`.
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
 * Builds the program in `go`, or the tool that the go.mod there names, as `go/.built/<program>`.
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
 * Builds the programs that the Cargo.toml in `rust` names, as `rust/.built/<name>`. Programs that benchmarks measure are optimized;
 * for the others, the build is fast instead.
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
 * Makes a folder that git ignores, and so do tools that follow `.gitignore`.
 * @param {string} folder
 */
function makeIgnored(folder) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '.gitignore'), '*\n');
}

/**
 * Says why a tool has built no program; undefined if it has.
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
