/** Reads the keys of a configuration. The configuration contains them, or names the file that does. */
import { resolve } from 'node:path';
import { ConfigError } from '../config/error.ts';
import type { Config } from '../config/schema.ts';
import type { Secrets } from '../config/secrets.ts';
import { type Keys, parseKeys } from '../core/keys.ts';
import { readUpTo } from '../core/read-up-to.ts';

/** The longest file of keys that is read, in bytes. */
const MAX_FILE_BYTES = 8_192;

/**
 * @param base the folder of the configuration
 * @param secrets takes the keys, so that they are hidden in everything that is printed or logged
 * @throws ConfigError for a file that cannot be read, or that does not hold keys
 */
export async function keysOf(
  { keys }: Pick<Config, 'keys'>,
  base: string,
  secrets: Secrets,
): Promise<Keys | undefined> {
  if (keys === undefined) return undefined;
  const text = Array.isArray(keys) ? keys.join(' ') : await textOf(keys.file, base);
  for (const key of text.split(/[\s,]+/)) secrets.add('KEY', key);
  try {
    return parseKeys(text, Array.isArray(keys) ? 'keys' : keys.file);
  } catch (cause) {
    throw new ConfigError(`keys: ${(cause as Error).message}`, { cause });
  }
}

async function textOf(file: string, base: string): Promise<string> {
  try {
    const bytes = await readUpTo(resolve(base, file), MAX_FILE_BYTES);
    if (bytes === undefined) throw new Error('it is too long');
    return bytes.toString('utf8');
  } catch (cause) {
    throw new ConfigError(`keys.file: ${file} cannot be read as a file of keys: ${reasonOf(cause)}`, { cause });
  }
}

export const reasonOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? 'there is no such file' : (code ?? message);
};
