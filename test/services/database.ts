/** A database server for one test file. */
import {
  type Account,
  accountOf,
  findProgram,
  onFreePort,
  privateFolder,
  type Running,
  removeFolder,
  runAs,
  startServer,
} from './programs.ts';

export interface DatabaseServer extends AsyncDisposable {
  /** The URL of one of its databases, over loopback, for the superuser. */
  url(database?: string): string;
  /** Ends it, with every connection to it. */
  stop(): Promise<void>;
  /** Starts it again with the same data. */
  start(): Promise<void>;
}

/** The password of the superuser `curator`. */
export const PASSWORD = 'glass case';

/** How to create and start a server of one kind. */
interface DatabaseKind {
  /** The name of its folder, and the scheme of its URLs. */
  readonly scheme: string;
  /** The database of a URL without one. */
  readonly database: string;
  /** The accounts that it can run as, if the tests run as root. */
  readonly accounts: readonly string[];
  readonly program: string;
  readonly args: (folder: string, port: number) => readonly string[];
  /** A text that it prints when it accepts connections. */
  readonly ready: string;
  readonly end: NodeJS.Signals;
  /** Folders with its programs, beside the usual ones. */
  readonly folders?: readonly string[];
  /** Creates an empty database in a folder. `run` runs one of its programs to its end. */
  readonly prepare: (folder: string, run: (program: string, args: readonly string[]) => Promise<void>) => Promise<void>;
}

/** Starts a server in a private folder, which is removed together with it. */
export async function startDatabase(kind: DatabaseKind): Promise<DatabaseServer> {
  const account = accountOf(kind.accounts);
  const folder = await privateFolder(kind.scheme, account);
  try {
    await kind.prepare(folder, (name, args) => runAs(account, program(kind, name), args));
    let at = 0;
    let running = await onFreePort((port) => {
      at = port;
      return run(kind, folder, account, port);
    });
    return {
      url: (database = kind.database) =>
        `${kind.scheme}://curator:${encodeURIComponent(PASSWORD)}@127.0.0.1:${at}/${encodeURIComponent(database)}`,
      stop: () => running.stop(),
      start: async () => {
        running = await run(kind, folder, account, at);
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

const run = (kind: DatabaseKind, folder: string, account: Account | undefined, port: number): Promise<Running> =>
  startServer({
    account,
    program: program(kind, kind.program),
    args: kind.args(folder, port),
    ready: kind.ready,
    end: kind.end,
  });

function program({ folders }: DatabaseKind, name: string): string {
  const path = findProgram(name, folders);
  if (path === undefined) throw new Error(`There is no ${name}`);
  return path;
}
