/** A private PostgreSQL for a test file: loopback only, nothing kept, no promise to survive a power cut. */
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
  versionFolders,
} from './programs.ts';
import type { Service } from './service.ts';

const FOLDERS = versionFolders('/usr/lib/postgresql');
const PASSWORD = 'glass case';
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

function program(name: string): string {
  const path = findProgram(name, FOLDERS);
  if (path === undefined) throw new Error(`${postgres.name}: there is no ${name}`);
  return path;
}

/** Starts one with the user `curator` and an empty database of the same name. */
export async function startPostgres(): Promise<DatabaseServer> {
  const account = accountOf(['postgres', 'nobody']);
  const folder = await privateFolder('postgres', account);
  const data = join(folder, 'data');
  const run = (port: number): Promise<Running> =>
    startServer({
      account,
      program: program('postgres'),
      args: ['-D', data, ...Object.entries({ ...SETTINGS, port }).flatMap(([key, value]) => ['-c', `${key}=${value}`])],
      ready: 'database system is ready to accept connections',
      // What PostgreSQL calls fast: it waits for no client.
      end: 'SIGINT',
    });
  try {
    const passwordFile = join(folder, 'password');
    await writeFile(passwordFile, PASSWORD, { mode: 0o644 });
    await runAs(account, program('initdb'), [
      ...['-D', data, '--no-sync', '--no-instructions', '--username=curator'],
      ...['--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--encoding=UTF8', '--locale=C.UTF-8'],
    ]);
    let at = 0;
    let running = await onFreePort((port) => {
      at = port;
      return run(port);
    });
    return {
      url: (database = 'postgres') =>
        `postgres://curator:${encodeURIComponent(PASSWORD)}@127.0.0.1:${at}/${encodeURIComponent(database)}`,
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
