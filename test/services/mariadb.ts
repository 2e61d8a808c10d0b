/** A private MariaDB for a test file: loopback only, temporary data, without durability. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DatabaseServer, PASSWORD, startDatabase } from './database.ts';
import { findProgram } from './programs.ts';
import type { Service } from './service.ts';

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

/** Starts one with the superuser `curator`, and the empty database `test`. */
export const startMariadb = (): Promise<DatabaseServer> =>
  startDatabase({
    scheme: 'mysql',
    database: 'test',
    accounts: ['mysql', 'nobody'],
    program: 'mariadbd',
    args: (folder, port) => [
      ...SMALL,
      ...[`--datadir=${dataIn(folder)}`, `--socket=${join(folder, 'socket')}`, `--pid-file=${join(folder, 'pid')}`],
      ...['--bind-address=127.0.0.1', `--port=${port}`, '--skip-name-resolve', '--skip-log-bin'],
      ...['--character-set-server=utf8mb4', `--init-file=${welcomeIn(folder)}`],
    ],
    ready: 'ready for connections',
    end: 'SIGTERM',
    async prepare(folder, run) {
      await writeFile(
        welcomeIn(folder),
        `CREATE USER IF NOT EXISTS curator@'127.0.0.1' IDENTIFIED BY '${PASSWORD}';
GRANT ALL ON *.* TO curator@'127.0.0.1' WITH GRANT OPTION;
CREATE DATABASE IF NOT EXISTS test;
`,
        { mode: 0o644 },
      );
      await run('mariadb-install-db', [
        ...SMALL,
        ...[`--datadir=${dataIn(folder)}`, '--auth-root-authentication-method=normal', '--skip-test-db'],
        '--skip-name-resolve',
      ]);
    },
  });

const dataIn = (folder: string): string => join(folder, 'data');
const welcomeIn = (folder: string): string => join(folder, 'welcome.sql');
