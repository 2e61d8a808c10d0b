/** Reads the files of policies and entities that a configuration names. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ResourceError } from 'vitrine/plug-in';

/**
 * Reads a file as text.
 * @param base the folder that a relative name starts from
 * @param key the key of `access.cedar` that names the file
 * @throws ResourceError `invalid` for a file that cannot be read
 */
export async function textOf(base: string, file: string, key: string): Promise<string> {
  try {
    return await readFile(resolve(base, file), 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw new ResourceError('invalid', `access.cedar.${key}: ${file}: ${why}`, { cause });
  }
}

/** Parses the text of a file of entities. @throws ResourceError `invalid` unless it is a list in JSON */
export function entitiesIn(text: string, file: string): readonly object[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ResourceError('invalid', `${file}: ${(cause as Error).message}`, { cause });
  }
  if (Array.isArray(value)) return value;
  throw new ResourceError('invalid', `${file}: entities are a list, as in [{ "uid": …, "attrs": {}, "parents": [] }]`);
}
