/** Databases and a store of a benchmark's own: over loopback only, nothing kept, no promise to survive a power cut. */
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { temporaryFolder } from './folders.mjs';
import { freePort, startListening } from './processes.mjs';

const PASSWORD = 'glass case';
const VERSIONS = '/usr/lib/postgresql';
const STORE = { accessKeyId: 'curator-of-glass', secretAccessKey: 'a glass case that nobody opens' };

/** How long a server may take until it answers, in milliseconds. */
const OPENING_MS = 30_000;

/** @param {string} name */
function find(name) {
  // Debian keeps versions of PostgreSQL side by side.
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a)) : [];
  return [
    ...versions.map((version) => join(VERSIONS, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== ''),
    ...['/usr/local/sbin', '/usr/sbin', '/sbin'],
  ]
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

/**
 * Why something cannot be started here; undefined where it can.
 * @param {readonly string[]} programs
 */
export function missingProgram(programs) {
  const name = programs.find((each) => find(each) === undefined);
  return name === undefined ? undefined : `there is no ${name}`;
}

/** A PostgreSQL with the user `curator`; `url` is that of an empty database. */
export async function startPostgres() {
  const { folder, as } = privateFolder('postgres');
  const [data, password] = [join(folder, 'data'), join(folder, 'password')];
  writeFileSync(password, PASSWORD, { mode: 0o644 });
  run([
    ...as,
    ...[find('initdb'), '-D', data, '--no-sync', '--no-instructions', '--username=curator'],
    ...['--auth=scram-sha-256', `--pwfile=${password}`, '--encoding=UTF8', '--locale=C.UTF-8'],
  ]);
  const port = await freePort();
  const settings = ['fsync=off', 'wal_level=minimal', 'max_wal_senders=0', 'unix_socket_directories=', `port=${port}`];
  const { stop } = await startListening(
    [...as, find('postgres'), '-D', data, ...settings.flatMap((each) => ['-c', each])],
    `http://127.0.0.1:${port}`,
    { LC_ALL: 'C.UTF-8' },
  );
  return { url: `postgres://curator:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`, stop };
}

/** A MariaDB with the user `curator`; `url` is that of the empty database `test`. */
export async function startMariadb() {
  const { folder, as } = privateFolder('mysql');
  const [data, welcome] = [join(folder, 'data'), join(folder, 'welcome.sql')];
  writeFileSync(
    welcome,
    `CREATE USER curator@'127.0.0.1' IDENTIFIED BY '${PASSWORD}';
GRANT ALL ON *.* TO curator@'127.0.0.1';
CREATE DATABASE test;
`,
    { mode: 0o644 },
  );
  const settings = ['--no-defaults', '--innodb-log-file-size=4M', '--innodb-flush-method=nosync', `--datadir=${data}`];
  run([
    ...[...as, find('mariadb-install-db'), ...settings],
    ...['--auth-root-authentication-method=normal', '--skip-test-db', '--skip-name-resolve'],
  ]);
  const port = await freePort();
  const { stop } = await startListening(
    [
      ...[...as, find('mariadbd'), ...settings, `--socket=${join(folder, 'socket')}`],
      ...[`--pid-file=${join(folder, 'pid')}`, '--bind-address=127.0.0.1', `--port=${port}`, '--skip-name-resolve'],
      ...['--skip-log-bin', '--character-set-server=utf8mb4', `--init-file=${welcome}`],
    ],
    `http://127.0.0.1:${port}`,
    { LC_ALL: 'C.UTF-8' },
  );
  return { url: `mysql://curator:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/test`, stop };
}

/** A Redis that keeps nothing on disk. */
export async function startRedis() {
  const port = await freePort();
  const { stop } = await startListening(
    [find('redis-server') ?? '', '--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    `http://127.0.0.1:${port}`,
    {},
  );
  return { url: `redis://127.0.0.1:${port}`, stop };
}

/** An S3-compatible store without buckets. */
export async function startStore() {
  const folder = temporaryFolder();
  const [data, notes] = [join(folder, 'data'), join(folder, 'notes')];
  for (const each of [data, notes]) mkdirSync(each);
  const [port, region] = [await freePort(), 'eu-glass-1'];
  const endpoint = `http://127.0.0.1:${port}`;
  const { stop } = await startListening(
    [
      ...[find('versitygw'), '--port', `127.0.0.1:${port}`, '--region', region, '--keep-alive', '--quiet'],
      ...['--access', STORE.accessKeyId, '--secret', STORE.secretAccessKey, 'posix', '--sidecar', notes, data],
    ],
    endpoint,
    {},
  );
  return { endpoint, region, ...STORE, stop };
}

/**
 * Asks until it works: a server may take connections before it answers.
 * @template T
 * @param {() => Promise<T>} ask
 */
export async function answered(ask) {
  const until = Date.now() + OPENING_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/**
 * A folder, and the beginning of a command that runs in it as somebody else than root: databases refuse to run as root.
 * @param {string} account
 */
function privateFolder(account) {
  const folder = temporaryFolder();
  const inside = ['/bin/sh', '-c', 'cd "$0" && exec "$@"', folder];
  if (process.getuid?.() !== 0) return { folder, as: inside };
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const [, , uid, gid] = [account, 'nobody'].flatMap((name) => accounts.filter(([each]) => each === name))[0] ?? [];
  chownSync(folder, Number(uid), Number(gid));
  return { folder, as: ['setpriv', '--reuid', uid, '--regid', gid, '--clear-groups', '--', ...inside] };
}

/** @param {readonly string[]} command */
function run([program = '', ...args]) {
  const { status, error, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 120_000 });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
}
