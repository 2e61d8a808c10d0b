/** Sets or removes an entry in the text of a host's configuration, and keeps the rest unchanged. */

import { isDeepStrictEqual } from 'node:util';
import { ConfigError } from '../../config/error.ts';
import { isData } from '../../protocol/data.ts';
import type { Edit } from './entry.ts';

type Data = Readonly<Record<string, unknown>>;

interface Format {
  /** @throws for an invalid text */
  parse(text: string): unknown;
  edit(text: string, edit: Edit): string;
}

/** Picks the format by the name of the file, or else by the beginning of its text. A format's code is loaded on demand. */
export async function formatOf(file: string, text: string): Promise<Format> {
  if (file.endsWith('.toml')) {
    const { editToml, parseToml } = await import('./toml.ts');
    return { parse: parseToml, edit: editToml };
  }
  if (!/\.jsonc?$/.test(file) && !/^\s*[[{/]/.test(text)) {
    const { editYaml, parseYaml } = await import('./yaml.ts');
    return { parse: parseYaml, edit: editYaml };
  }
  const { editJson, parseJson } = await import('./json.ts');
  return { parse: (text) => (text.trim() === '' ? undefined : parseJson(text)), edit: editJson };
}

export interface Edited {
  readonly text: string;
  /** The former entry. */
  readonly before: unknown;
  /** The former content. */
  readonly content: unknown;
}

/**
 * Returns the text with the entry, or without it. The result is parsed again, and rejected if anything else has changed.
 * @throws ConfigError for an invalid text, and for one in a notation that cannot be edited
 */
export async function edited(file: string, text: string, edit: Edit): Promise<Edited> {
  const mark = text.startsWith(BOM) ? BOM : '';
  const body = text.slice(mark.length);
  const format = await formatOf(file, body);
  const content = parsed(format, body, file);
  const before = edit.path.reduce<unknown>(
    (at, key) => (isData(at) && Object.hasOwn(at, key) ? at[key] : undefined),
    content,
  );
  if (isDeepStrictEqual(before, edit.value)) return { text, before, content };
  const result = editedAs(format, body, edit, content);
  if (result === undefined)
    throw new ConfigError(`${file}: its notation cannot be edited automatically; edit it by hand`);
  return { text: mark + result, before, content };
}

const BOM = '\ufeff';

function parsed(format: Format, text: string, file: string): Data {
  let content: unknown;
  try {
    content = format.parse(text) ?? {};
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new ConfigError(`${file} is invalid, and was not changed: ${reason}`, { cause: error });
  }
  if (isData(content)) return content;
  throw new ConfigError(`${file} is not a configuration of a host, and was not changed`);
}

/** Edits the text in one format. Returns undefined if anything else would change. */
function editedAs(format: Format, text: string, edit: Edit, content: Data): string | undefined {
  const wanted = structuredClone(content);
  try {
    set(wanted, edit);
    const result = format.edit(text, edit);
    const got = structuredClone(format.parse(result) ?? {});
    // A section that became empty may be removed or kept.
    if (edit.value === undefined) for (const each of [wanted, got]) if (isData(each)) prune(each, edit.path);
    return isDeepStrictEqual(got, wanted) ? result : undefined;
  } catch {
    return undefined;
  }
}

function set(content: Record<string, unknown>, { path, value }: Edit): void {
  let at = content;
  for (const key of path.slice(0, -1)) {
    const next = at[key] ?? {};
    if (!isData(next)) throw new TypeError('no section');
    // A copy, because a YAML alias may share one object in two places.
    const copy = { ...next };
    at[key] = copy;
    at = copy;
  }
  const name = path.at(-1) ?? '';
  if (value === undefined) delete at[name];
  else at[name] = value;
}

function prune(content: Readonly<Record<string, unknown>>, [key = '']: readonly string[]): void {
  const section = content[key];
  if (section === null || (isData(section) && Object.keys(section).length === 0))
    delete (content as Record<string, unknown>)[key];
}
