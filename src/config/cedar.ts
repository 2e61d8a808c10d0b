/** Policies in Cedar that a configuration names: files beside it, read at the beginning. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { AccessPolicy } from '../core/access.ts';
import type { Log } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import { ConfigError } from './error.ts';
import type { Config } from './schema.ts';

/**
 * The policy that decides; undefined where the configuration has none in Cedar.
 * @param base the directory that relative paths start from
 * @throws ConfigError with the file, the place in it and what is wrong there
 */
export async function cedarOf(
  { access }: Pick<Config, 'access'>,
  { base, log }: { readonly base: string; readonly log: Log },
): Promise<AccessPolicy | undefined> {
  if (access?.cedar === undefined) return undefined;
  const { policies, entities } = access.cedar;
  const text = await textOf(resolve(base, policies), policies, 'policies');
  const known =
    entities === undefined
      ? undefined
      : entitiesIn(await textOf(resolve(base, entities), entities, 'entities'), entities);
  const { cedarPolicy } = await import('../layers/access/cedar/index.ts');
  try {
    const names = { policies, entities: entities ?? 'entities' };
    return await cedarPolicy({ policies: text, entities: known, names, log });
  } catch (error) {
    throw error instanceof ResourceError ? new ConfigError(error.message, { cause: error.cause }) : error;
  }
}

async function textOf(path: string, file: string, key: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw new ConfigError(`access.cedar.${key}: ${file}: ${why}`, { cause });
  }
}

function entitiesIn(text: string, file: string): readonly object[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ConfigError(`${file}: ${(cause as Error).message}`, { cause });
  }
  if (Array.isArray(value)) return value;
  throw new ConfigError(`${file}: entities are a list, as in [{ "uid": …, "attrs": {}, "parents": [] }]`);
}
