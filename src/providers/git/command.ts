/**
 * Runs git. A caller's input gets into the arguments only as a hash, as the text after `-e`, or as a path or reference after
 * `--`. The environment and the folder that git runs in are Vitrine's own, and the number of processes, the bytes of output
 * and the time are limited.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { devNull } from 'node:os';
import { ResourceError } from '../../core/errors.ts';

export interface Git {
  readonly program: string;
  /** The folder that stands in for the repository. */
  readonly directory: string;
  /** The major and the minor version. */
  readonly version: readonly [number, number];
  readonly timeoutMs: number;
  readonly slots: Slots;
}

/** The most characters of git's standard error that are kept. */
const MAX_COMPLAINT_LENGTH = 8_192;

/** The oldest version of git that Vitrine accepts. */
export const OLDEST_GIT: Git['version'] = [2, 30];

export const isAtLeast = ([major, minor]: Git['version'], [wantedMajor, wantedMinor]: Git['version']): boolean =>
  major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);

/** Limits how many git commands run at a time; others wait for their turn. */
export interface Slots {
  /**
   * Waits for a turn, and returns the function that ends it.
   * @throws ResourceError `limited` when too many commands wait, or one waits for too long; the signal's reason
   */
  take(signal: AbortSignal): Promise<() => void>;
}

/** Returns the environment that git runs in. Of the user's environment it has only `PATH` and, on Windows, its counterparts. */
function environment(directory: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    ...(process.platform === 'win32' && { SystemRoot: process.env.SystemRoot, PATHEXT: process.env.PATHEXT }),
    HOME: directory,
    XDG_CONFIG_HOME: directory,
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_DIR: directory,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_LITERAL_PATHSPECS: '1',
  };
}

/** Options that repeat what the stand-in configuration already ensures, in case one of the two has a gap. */
const ALWAYS = [
  '--no-pager',
  '--no-replace-objects',
  '-c',
  'core.fsmonitor=false',
  '-c',
  `core.hooksPath=${devNull}`,
  '-c',
  'core.quotePath=false',
  '-c',
  'protocol.allow=never',
];

/**
 * Starts git. If the program cannot be started, the process reports it as an event.
 * @throws Error if the system refuses the start itself, for example because the arguments are too long
 */
export function startGit(git: Pick<Git, 'program' | 'directory'>, args: readonly string[]): ChildProcess {
  const child = spawn(git.program, [...ALWAYS, ...args], {
    cwd: git.directory,
    env: environment(git.directory),
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
  // Writing fails if git has ended. The caller handles that end.
  child.stdin?.on('error', () => {});
  return child;
}

export interface Run {
  readonly signal: AbortSignal;
  /** The text for git's standard input. */
  readonly input?: string;
  /** The most bytes of output; more of them throw `too-large`. Default: no limit, for callers that stop reading by themselves. */
  readonly maxBytes?: number;
  /** The exit statuses that count as success. Default: 0. */
  readonly accepts?: readonly number[];
}

/**
 * Yields the output of a command as it comes. The command pauses while the caller does not read, and is killed
 * when the caller leaves the loop.
 * @throws ResourceError `timeout`, `too-large`, `unavailable`, `limited`; the signal's reason
 */
export async function* runGit(git: Git, args: readonly string[], run: Run): AsyncGenerator<Buffer> {
  const release = await git.slots.take(run.signal);
  const child = startOr(release, git, args);
  const closed = once(child, 'close').catch(() => [null]);
  const kill = (): void => void child.kill('SIGKILL');
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    kill();
  }, git.timeoutMs);
  run.signal.addEventListener('abort', kill, { once: true });
  const complaint = complaintOf(child);
  try {
    child.stdin?.end(run.input ?? '');
    let bytes = 0;
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (run.maxBytes !== undefined && bytes > run.maxBytes)
        throw new ResourceError('too-large', `This takes more than ${run.maxBytes} bytes to say; ask for a part of it`);
      yield chunk;
    }
    const [status] = (await closed) as [number | null];
    run.signal.throwIfAborted();
    if (late) throw new ResourceError('timeout', 'git took too long for this; ask for a part of it');
    if (status === null || !(run.accepts ?? [0]).includes(status))
      throw gitFailed(child.pid === undefined ? 'it could not be started' : complaint());
  } catch (error) {
    if (error instanceof ResourceError || run.signal.aborted) throw error;
    throw gitFailed(error);
  } finally {
    clearTimeout(timer);
    run.signal.removeEventListener('abort', kill);
    kill();
    await closed;
    release();
  }
}

/** The system's errors for arguments that are too long in all. The second one is that of Windows. */
const TOO_LONG: ReadonlySet<unknown> = new Set(['E2BIG', 'ENAMETOOLONG']);

/** Starts git, and gives the turn back if that throws. @throws ResourceError `too-large`, `unavailable` */
function startOr(release: () => void, git: Git, args: readonly string[]): ChildProcess {
  try {
    return startGit(git, args);
  } catch (error) {
    release();
    if (error instanceof Error && 'code' in error && TOO_LONG.has(error.code))
      throw new ResourceError('too-large', 'This names more than git takes at a time; ask for a part of it', {
        cause: error,
      });
    throw gitFailed(error);
  }
}

/** Makes the error of a failed command. Its cause has the message of git, which is for the log only: it can contain paths. */
export const gitFailed = (cause: unknown): ResourceError =>
  new ResourceError('unavailable', 'The repository cannot be read here; it is damaged, incomplete, or busy', {
    cause: cause instanceof Error ? cause : new Error(String(cause)),
  });

function complaintOf(child: ChildProcess): () => string {
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    if (complaint.length < MAX_COMPLAINT_LENGTH) complaint += chunk.toString('utf8');
  });
  return () => complaint;
}

/** Returns the whole output of a command. */
export async function collectGit(git: Git, args: readonly string[], run: Run & { maxBytes: number }): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of runGit(git, args, run)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The most bytes of a record between two separators. */
const MAX_RECORD_BYTES = 1_048_576;

/** Splits the output of a command into records without their separator, as strings of one character per byte. */
export async function* recordsOf(chunks: AsyncIterable<Buffer>, separator = '\n'): AsyncGenerator<string> {
  const end = separator.charCodeAt(0);
  /** The parts of a record whose end has not arrived yet, and the number of their bytes. */
  let rest: Buffer[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(end); at !== -1; at = chunk.indexOf(end, start)) {
      const part = chunk.subarray(start, at);
      yield (rest.length === 0 ? part : Buffer.concat([...rest, part])).toString('latin1');
      rest = [];
      held = 0;
      start = at + 1;
    }
    const more = chunk.subarray(start);
    held += more.byteLength;
    if (held > MAX_RECORD_BYTES) throw gitFailed('a record of its output does not end');
    if (more.byteLength > 0) rest.push(more);
  }
  if (held > 0) yield Buffer.concat(rest).toString('latin1');
}
