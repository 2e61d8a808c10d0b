/** A private MariaDB for a test file: loopback only, nothing kept, no promise to survive a power cut. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseServer } from './database.ts';
import {
  accountOf,
  findProgram,
  onFreePort,
  privateFolder,
  type Running,
  removeFolder,
  runAs,
  startServer,
} from './programs.ts';
import type { Service } from './service.ts';

const PASSWORD = 'glass case';
/** Fast rather than safe, small rather than fast. */
const SMALL = [
  '--no-defaults',
  '--innodb-log-file-size=4M',
  '--innodb-buffer-pool-size=16M',
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-flush-method=nosync',
];

export const mariadb: Service = {
  name: 'MariaDB',
  missing: () =>
    ['mariadb-install-db', 'my_print_defaults', 'mariadbd']
      .filter((name) => findProgram(name) === undefined)
      .map((name) => `there is no ${name}`)[0],
};

function program(name: string): string {
  const path = findProgram(name);
  if (path === undefined) throw new Error(`${mariadb.name}: there is no ${name}`);
  return path;
}

/** Starts one with the user `curator`, who may do everything, and the empty database `test`. */
export async function startMariadb(): Promise<DatabaseServer> {
  const account = accountOf(['mysql', 'nobody']);
  const folder = await privateFolder('mariadb', account);
  const data = join(folder, 'data');
  const welcome = join(folder, 'welcome.sql');
  const run = (port: number): Promise<Running> =>
    startServer({
      account,
      program: program('mariadbd'),
      args: [
        ...SMALL,
        ...[`--datadir=${data}`, `--socket=${join(folder, 'socket')}`, `--pid-file=${join(folder, 'pid')}`],
        ...['--bind-address=127.0.0.1', `--port=${port}`, '--skip-name-resolve', '--skip-log-bin'],
        ...['--character-set-server=utf8mb4', `--init-file=${welcome}`],
      ],
      ready: 'ready for connections',
      end: 'SIGTERM',
    });
  try {
    await writeFile(
      welcome,
      `CREATE USER IF NOT EXISTS curator@'127.0.0.1' IDENTIFIED BY '${PASSWORD}';
GRANT ALL ON *.* TO curator@'127.0.0.1' WITH GRANT OPTION;
CREATE DATABASE IF NOT EXISTS test;
`,
      { mode: 0o644 },
    );
    await runAs(account, program('mariadb-install-db'), [
      ...SMALL,
      ...[`--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db', '--skip-name-resolve'],
    ]);
    let at = 0;
    let running = await onFreePort((port) => {
      at = port;
      return run(port);
    });
    return {
      url: (database = 'test') =>
        `mysql://curator:${encodeURIComponent(PASSWORD)}@127.0.0.1:${at}/${encodeURIComponent(database)}`,
      stop: () => running.stop(),
      start: async () => {
        running = await run(at);
      },
      [Symbol.asyncDispose]: async () => {
        await running.stop();
        await removeFolder(folder);
      },
    };
  } catch (error) {
    await removeFolder(folder);
    throw error;
  }
}
