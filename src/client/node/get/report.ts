/** Types of the options and the reports of `get`. */
import type { ClientErrorCode } from '../../errors.ts';
import type { ReadOptions } from '../../reading.ts';
import type { WalkReport } from '../../walk.ts';

export interface GetOptions {
  /** The formats that are wanted, best first. Default: the format that the server sends first. */
  readonly accept?: ReadOptions['accept'];
  /** Levels below the start. Default 32. */
  readonly maxDepth?: number | undefined;
  /** Resources that are looked at. Default 100,000. */
  readonly maxResources?: number | undefined;
  /** Bytes of one resource. Default 256 MiB. */
  readonly maxBytes?: number | undefined;
  /** Bytes of all resources that are read in this run. Default 8 GiB. */
  readonly maxTotalBytes?: number | undefined;
  /** Resources that are read at the same time. Default 4. */
  readonly concurrency?: number | undefined;
  /** Milliseconds for one request. Default: the client's. */
  readonly timeoutMs?: number | undefined;
  /** Writes into a folder that has something else in it, and over files that `get` has not written. Default false. */
  readonly force?: boolean | undefined;
  /**
   * Globs of what is wanted, such as `*.md` or `guide/**`: of names, and with a slash of paths below the start. A folder that
   * matches is wanted with all that is in it. Default: everything.
   */
  readonly include?: readonly string[] | undefined;
  /** Globs of what is not wanted, likewise; a folder that matches is not listed. Default: none. */
  readonly exclude?: readonly string[] | undefined;
  /** Reads and writes nothing: entries and report say what a run would do now. Default false. */
  readonly dryRun?: boolean | undefined;
  /** Asks for everything, whatever the server says has not changed. Default false. */
  readonly fresh?: boolean | undefined;
  /**
   * Names that files and folders have though tools act on them, such as `.vscode` (see `docs/guide/get.md`). Default: none; a
   * `_` comes before them.
   */
  readonly keepNames?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told of each resource when it is done. */
  readonly onEntry?: ((entry: GetEntry) => void) | undefined;
  /** Told of each step: of what is done, and what was found so far. */
  readonly onProgress?: ((progress: GetProgress) => void) | undefined;
}

/** The outcome for one resource. */
export interface GetEntry {
  readonly uri: string;
  readonly status: GetStatus;
  /** Its file, with slashes, from the folder. */
  readonly path?: string | undefined;
  /** Bytes of the file; of one that is planned, as the server says. */
  readonly size?: number | undefined;
  /** Of the file, in hexadecimal digits. */
  readonly sha256?: string | undefined;
  /** Why it is skipped, or failed. */
  readonly reason?: string | undefined;
  /** Of a failure of the server, or of a limit. Undefined for one of the disk. */
  readonly code?: ClientErrorCode | undefined;
}

export type GetStatus =
  /** There is a new file, or a changed one. */
  | 'written'
  /** The file is as it was, and as the server has it. */
  | 'unchanged'
  /** A container without contents of its own. */
  | 'skipped'
  /** Of a dry run: it would be asked for, and written if it is different. */
  | 'planned'
  | 'failed';

export interface GetProgress extends Readonly<Record<GetStatus, number>> {
  /** Resources that were found so far. */
  readonly found: number;
  /** Whether these are all. */
  readonly foundAll: boolean;
  /** Bytes that were read. */
  readonly bytes: number;
}

export interface GetReport extends GetProgress {
  /** Its real path. */
  readonly folder: string;
  readonly start: readonly string[];
  /** Files of earlier runs whose resources were not found this time. They are left as they are. */
  readonly gone: readonly string[];
  /** Why something was not looked at, by number. */
  readonly stopped: WalkReport['stopped'];
  /** Bytes of all resources were more than `maxTotalBytes`. */
  readonly overTotal: boolean;
  /** Everything there is was found, and has its file. */
  readonly complete: boolean;
}

export const DEFAULT_MAX_RESOURCES = 100_000;
export const DEFAULT_MAX_FILE_BYTES = 256 * 1024 * 1024;
export const DEFAULT_MAX_TOTAL_BYTES = 8 * 1024 * 1024 * 1024;
export const DEFAULT_GET_CONCURRENCY = 4;
/** The most files that are named as gone. */
export const MAX_GONE = 1_000;
