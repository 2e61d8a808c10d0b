/** A private PostgreSQL for a test file: loopback only, temporary data, without durability. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DatabaseServer, PASSWORD, startDatabase } from './database.ts';
import { findProgram, versionFolders } from './programs.ts';
import type { Service } from './service.ts';

const FOLDERS = versionFolders('/usr/lib/postgresql');
/** Fast rather than safe, small rather than fast. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '8MB',
  max_connections: '40',
  max_wal_senders: '0',
  wal_level: 'minimal',
  autovacuum: 'off',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
};

export const postgres: Service = {
  name: 'PostgreSQL',
  missing: () => ['initdb', 'postgres'].map(missingProgram).find((why) => why !== undefined),
};

const missingProgram = (name: string): string | undefined =>
  findProgram(name, FOLDERS) === undefined ? `there is no ${name}` : undefined;

/** Starts one with the superuser `curator` and the empty database `postgres`. */
export const startPostgres = (): Promise<DatabaseServer> =>
  startDatabase({
    scheme: 'postgres',
    database: 'postgres',
    accounts: ['postgres', 'nobody'],
    folders: FOLDERS,
    program: 'postgres',
    args: (folder, port) => [
      ...['-D', join(folder, 'data')],
      ...Object.entries({ ...SETTINGS, port }).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    ],
    ready: 'database system is ready to accept connections',
    // PostgreSQL calls this a fast shutdown: it does not wait for clients.
    end: 'SIGINT',
    async prepare(folder, run) {
      const passwordFile = join(folder, 'password');
      await writeFile(passwordFile, PASSWORD, { mode: 0o644 });
      await run('initdb', [
        ...['-D', join(folder, 'data'), '--no-sync', '--no-instructions', '--username=curator'],
        ...['--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--encoding=UTF8', '--locale=C.UTF-8'],
      ]);
    },
  });
