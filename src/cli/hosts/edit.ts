/** An entry in the text of a host's configuration: put there or taken out, while all else stays as it is. */
import { isDeepStrictEqual } from 'node:util';
import { ConfigError } from '../../config/error.ts';
import { isRecord } from '../../config/references.ts';
import type { Edit } from './entry.ts';

type Data = Readonly<Record<string, unknown>>;

interface Format {
  /** @throws where the text is none */
  parse(text: string): unknown;
  edit(text: string, edit: Edit): string;
}

/** By the name of the file, and for other names by how its text begins. Each is loaded when it is wanted. */
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
  /** The entry that was there. */
  readonly before: unknown;
  /** All that was there. */
  readonly content: unknown;
}

/**
 * The text with the entry, or without it. It is read again: what would change anything else is not given out.
 * @throws ConfigError for a text that is broken, or written in a way that this cannot edit
 */
export async function edited(file: string, text: string, edit: Edit): Promise<Edited> {
  const mark = text.startsWith(BOM) ? BOM : '';
  const own = text.slice(mark.length);
  const format = await formatOf(file, own);
  const content = parsed(format, own, file);
  const before = edit.path.reduce<unknown>(
    (at, key) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined),
    content,
  );
  if (isDeepStrictEqual(before, edit.value)) return { text, before, content };
  const result = editedAs(format, own, edit, content);
  if (result === undefined)
    throw new ConfigError(`${file}: it is written in a way that cannot be edited here; edit it by hand`);
  return { text: mark + result, before, content };
}

const BOM = '\ufeff';

function parsed(format: Format, text: string, file: string): Data {
  let content: unknown;
  try {
    content = format.parse(text) ?? {};
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new ConfigError(`${file} is broken, and was left as it is: ${reason}`, { cause: error });
  }
  if (isRecord(content)) return content;
  throw new ConfigError(`${file} is no configuration of a host, and was left as it is`);
}

/** Undefined where anything else would not be what it was. */
function editedAs(format: Format, text: string, edit: Edit, content: Data): string | undefined {
  const wanted = structuredClone(content);
  try {
    set(wanted, edit);
    const result = format.edit(text, edit);
    const got = structuredClone(format.parse(result) ?? {});
    // A section that has become empty may be gone, or be there.
    if (edit.value === undefined) for (const each of [wanted, got]) if (isRecord(each)) prune(each, edit.path);
    return isDeepStrictEqual(got, wanted) ? result : undefined;
  } catch {
    return undefined;
  }
}

function set(content: Record<string, unknown>, { path, value }: Edit): void {
  let at = content;
  for (const key of path.slice(0, -1)) {
    const next = at[key] ?? {};
    if (!isRecord(next)) throw new TypeError('no section');
    // A copy: YAML may have the same one in two places.
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
  if (section === null || (isRecord(section) && Object.keys(section).length === 0))
    delete (content as Record<string, unknown>)[key];
}
