/** The file of a host: read whole, and replaced whole. */
import { lstat, mkdir, readFile, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigError } from '../../config/error.ts';
import { writeWhole } from '../../providers/upstream/whole-file.ts';

export interface HostFile {
  /** The path at the end of all links. */
  readonly target: string;
  /** Empty where there is no file. */
  readonly text: string;
  /** Permissions; undefined where there is no file. */
  readonly mode: number | undefined;
}

/** The most bytes of a file. Larger files are left alone. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** Of new files: other servers in them may have secrets. */
const NEW_MODE = 0o600;

/** @throws ConfigError for what cannot be read as text */
export async function readHostFile(file: string): Promise<HostFile> {
  const target = await targetOf(file);
  const found = await stat(target).catch(absent);
  if (found === undefined) return { target, text: '', mode: undefined };
  if (!found.isFile() || found.size > MAX_FILE_BYTES)
    throw new ConfigError(`${file} is no file of a configuration, or too large for one`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(target));
    return { target, text, mode: found.mode & 0o777 };
  } catch (error) {
    const reason = error instanceof TypeError ? 'is not UTF-8, and was left as it is' : 'cannot be read';
    throw new ConfigError(`${file} ${reason}`, { cause: error });
  }
}

/** @throws ConfigError where the file has changed since it was read, or cannot be written */
export async function replaceHostFile(file: string, { target, text, mode }: HostFile, now: string): Promise<void> {
  const again = await readHostFile(file);
  if (again.target !== target || again.text !== text)
    throw new ConfigError(`${file} has changed meanwhile, and was left as it is; run this again`);
  try {
    await mkdir(dirname(target), { recursive: true });
    await writeWhole(target, now, mode ?? NEW_MODE);
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
    throw new ConfigError(`It cannot be read (${error.code}): ${error.path ?? ''}`, { cause: error });
}
