/**
 * Installs the programs that tests start by themselves: databases, browsers and other services, from Debian's packages where
 * there are some. It installs only missing programs, as root or with sudo, and starts none. To install another one, add a row
 * to SERVICES.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The most milliseconds that one command may run. */
const TIME_LIMIT = 900_000;

/**
 * `before` is a line for the shell that runs before the packages are installed.
 * @type {readonly { name: string, present: () => boolean, packages: readonly string[], before?: string }[]}
 */
const SERVICES = [
  {
    name: 'PostgreSQL',
    present: () => onPath('postgres') || below('/usr/lib/postgresql', 'bin/postgres'),
    packages: ['postgresql'],
    // Otherwise the package makes a database and starts it.
    before:
      'd=/etc/postgresql-common; mkdir -p $d; [ -e $d/createcluster.conf ] || echo "create_main_cluster = false" > $d/createcluster.conf',
  },
  {
    name: 'MariaDB',
    present: () => ['mariadbd', 'mariadb-install-db', 'my_print_defaults'].every(onPath),
    packages: ['mariadb-server-core', 'mariadb-client-core'],
  },
  { name: 'Redis', present: () => onPath('redis-server'), packages: ['redis-server'] },
  { name: 'Caddy', present: () => onPath('caddy'), packages: ['caddy'] },
  { name: 'systemd', present: () => onPath('systemd-analyze'), packages: ['systemd'] },
  { name: 'Chromium', present: () => onPath('chromium'), packages: ['chromium'] },
  { name: 'Firefox', present: () => ['firefox-esr', 'firefox'].some(onPath), packages: ['firefox-esr'] },
  {
    name: 'Versity S3 Gateway',
    present: () => onPath('versitygw'),
    packages: [],
    // There is no Debian package, so this builds the Go module.
    before: 'GOBIN=/usr/local/bin go install github.com/versity/versitygw/cmd/versitygw@v1.8.0',
  },
];

const missing = SERVICES.filter(({ present }) => !present());
for (const service of SERVICES) if (!missing.includes(service)) console.log(`${service.name}: in place`);
if (missing.length > 0) install();

function install() {
  const names = missing.map(({ name }) => name).join(', ');
  if (!onPath('apt-get')) fail(`Missing: ${names}. Install them with the system's package tool; apt-get is not here.`);
  for (const { before } of missing) if (before !== undefined) asRoot(['sh', '-c', before]);
  const packages = missing.flatMap((service) => service.packages);
  const command = ['apt-get', 'install', '--yes', '--quiet', '--no-install-recommends', ...packages];
  const noninteractive = ['env', 'DEBIAN_FRONTEND=noninteractive'];
  // The lists of packages may be old or missing.
  if (asRoot([...noninteractive, ...command]).status !== 0) {
    asRoot(['apt-get', 'update', '--quiet']);
    const done = asRoot([...noninteractive, ...command]);
    if (done.status !== 0) fail(`Could not install ${names}.\n${done.stdout}${done.stderr}`);
  }
  for (const { name, present } of missing) {
    if (!present()) fail(`${name}: installed, and still not where it is looked for`);
    console.log(`${name}: installed`);
  }
}

/** @param {readonly string[]} command */
function asRoot(command) {
  const [program = '', ...args] = process.getuid?.() === 0 ? command : ['sudo', '-n', ...command];
  return spawnSync(program, args, { encoding: 'utf8', timeout: TIME_LIMIT, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** @param {string} program */
function onPath(program) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'];
  return folders.some((folder) => folder !== '' && existsSync(join(folder, program)));
}

/**
 * Tells whether a subfolder, such as one for each version, has the file.
 * @param {string} folder
 * @param {string} file
 */
function below(folder, file) {
  return existsSync(folder) && readdirSync(folder).some((name) => existsSync(join(folder, name, file)));
}

/**
 * @param {string} why
 * @returns {never}
 */
function fail(why) {
  console.error(why);
  process.exit(1);
}
