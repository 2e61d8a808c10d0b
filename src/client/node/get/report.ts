/** Types of the options and the reports of `get`. */
import type { ClientErrorCode } from '../../errors.ts';
import type { ReadOptions } from '../../reading.ts';
import type { WalkReport } from '../../walk.ts';

export interface GetOptions {
  /** The formats that are wanted, best first. Default: the format that the server sends first. */
  readonly accept?: ReadOptions['accept'];
  /** The most levels below the start. Default 32. */
  readonly maxDepth?: number | undefined;
  /** The most resources that are looked at. Default 100,000. */
  readonly maxResources?: number | undefined;
  /** The most bytes of one resource. Default 256 MiB. */
  readonly maxBytes?: number | undefined;
  /** The most bytes of all resources that are read in this run. Default 8 GiB. */
  readonly maxTotalBytes?: number | undefined;
  /** Resources that are read at the same time. Default 4. */
  readonly concurrency?: number | undefined;
  /** The most milliseconds for one request. Default: the client's. */
  readonly timeoutMs?: number | undefined;
  /** Writes into a folder that has something else in it, and over files that `get` has not written. Default false. */
  readonly force?: boolean | undefined;
  /**
   * Globs of wanted resources, such as `*.md` or `guide/**`. A glob without a slash matches names, one with a slash paths below
   * the start. A folder that matches is wanted with all that is in it. Default: everything.
   */
  readonly include?: readonly string[] | undefined;
  /** Globs of resources that are not wanted, in the same form. A folder that matches is not listed. Default: none. */
  readonly exclude?: readonly string[] | undefined;
  /** Reads no contents and writes nothing: entries and report say what a run would do now. Default false. */
  readonly dryRun?: boolean | undefined;
  /** Reads every resource again, even if the server says that it has not changed. Default false. */
  readonly fresh?: boolean | undefined;
  /**
   * Names of files and folders that stay as they are although tools act on them, such as `.vscode` (see `docs/guide/get.md`).
   * Default: none. All other names that tools act on get a `_` in front.
   */
  readonly keepNames?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the outcome of each resource. */
  readonly onEntry?: ((entry: GetEntry) => void) | undefined;
  /** Called after each outcome, with the numbers of resources that are found and done so far. */
  readonly onProgress?: ((progress: GetProgress) => void) | undefined;
}

/** The outcome for one resource. */
export interface GetEntry {
  readonly uri: string;
  readonly status: GetStatus;
  /** The path of the file below the folder, with slashes. */
  readonly path?: string | undefined;
  /** Bytes of the file. If it is only planned, bytes as the server says. */
  readonly size?: number | undefined;
  /** SHA-256 of the file, in hexadecimal digits. */
  readonly sha256?: string | undefined;
  /** Why the resource was skipped, or failed. */
  readonly reason?: string | undefined;
  /** The code of the error if the server failed or a limit was reached. Undefined for an error of the disk. */
  readonly code?: ClientErrorCode | undefined;
}

export type GetStatus =
  /** The file is new or was changed. */
  | 'written'
  /** The file already holds what the server has. */
  | 'unchanged'
  /** A container without contents of its own. */
  | 'skipped'
  /** In a dry run: the resource would be read, and written if it is different. */
  | 'planned'
  | 'failed';

export interface GetProgress extends Readonly<Record<GetStatus, number>> {
  /** Resources that were found so far. */
  readonly found: number;
  /** Whether these are all resources that there are to find. */
  readonly foundAll: boolean;
  /** Bytes that were read. */
  readonly bytes: number;
}

export interface GetReport extends GetProgress {
  /** The real path of the folder. */
  readonly folder: string;
  /** The URIs that were asked for; empty for all that the server has. */
  readonly start: readonly string[];
  /** Files of earlier runs whose resources were not found this time. They are left as they are. */
  readonly gone: readonly string[];
  /** Reasons why the walk did not look at something, and how often each applied. */
  readonly stopped: WalkReport['stopped'];
  /** Whether the run ended because it read more than `maxTotalBytes`. */
  readonly overTotal: boolean;
  /** Whether every wanted resource was found, and none failed. */
  readonly complete: boolean;
}

export const DEFAULT_MAX_RESOURCES = 100_000;
export const DEFAULT_MAX_FILE_BYTES = 256 * 1024 * 1024;
export const DEFAULT_MAX_TOTAL_BYTES = 8 * 1024 * 1024 * 1024;
export const DEFAULT_GET_CONCURRENCY = 4;
/** The most files that are named as gone. */
export const MAX_GONE = 1_000;
