/** Reads the configuration file of a host, and replaces it as a whole. */
import { lstat, mkdir, readFile, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../../config/error.ts';
import { writeWhole } from '../../providers/upstream/whole-file.ts';

/** The configuration file of a host as it was read. */
export interface HostFile {
  /** The path after all symbolic links. */
  readonly target: string;
  /** The content; empty if there is no file. */
  readonly text: string;
  /** The permissions; undefined if there is no file. */
  readonly mode: number | undefined;
}

/** The most bytes of a file. Larger files are left alone. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** The permissions of new files: only the user may read them, because entries of other servers may hold secrets. */
const NEW_MODE = 0o600;

/** @throws ConfigError for a file that cannot be read, is too large, or is not UTF-8 */
export async function readHostFile(file: string): Promise<HostFile> {
  const target = await targetOf(file);
  const found = await stat(target).catch(absent);
  if (found === undefined) return { target, text: '', mode: undefined };
  if (!found.isFile() || found.size > MAX_FILE_BYTES)
    throw new ConfigError(`${file} is no file, or is too large for a configuration`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(target));
    return { target, text, mode: found.mode & 0o777 };
  } catch (error) {
    const reason = error instanceof TypeError ? 'is not UTF-8, and was left as it is' : 'cannot be read';
    throw new ConfigError(`${file} ${reason}`, { cause: error });
  }
}

/**
 * Replaces the content of a file.
 * @param original the file as it was read; @param content the new content
 * @throws ConfigError if the file has changed since it was read, or cannot be written
 */
export async function replaceHostFile(file: string, original: HostFile, content: string): Promise<void> {
  const { target, text, mode } = original;
  const again = await readHostFile(file);
  if (again.target !== target || again.text !== text)
    throw new ConfigError(`${file} has changed meanwhile, and was left as it is; run this again`);
  try {
    await mkdir(dirname(target), { recursive: true });
    await writeWhole(target, content, mode ?? NEW_MODE);
  } catch (error) {
    const { code = 'no reason given' } = error as NodeJS.ErrnoException;
    throw new ConfigError(`${file} cannot be written (${code}), and was left as it is`, { cause: error });
  }
}

/** Follows links, also to a file that is not there yet. */
async function targetOf(file: string): Promise<string> {
  const real = await realpath(file).catch(absent);
  if (real !== undefined) return real;
  const link = await lstat(file).catch(absent);
  return link?.isSymbolicLink() ? resolve(dirname(file), await readlink(file)) : file;
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT')
    throw new ConfigError(`A file cannot be read (${error.code}): ${error.path ?? ''}`, { cause: error });
}
