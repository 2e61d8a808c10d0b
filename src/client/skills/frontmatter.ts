/** Reads the YAML at the head of a `SKILL.md`, and compares it with the skill's entry (SEP-2640, Frontmatter). */
import { LineFault, parseHead } from '../../core/front-matter.ts';
import { isData } from '../../protocol/data.ts';
import { invalidAnswer } from '../errors.ts';
import type { Data } from '../link.ts';

/** The most characters of a frontmatter. While it is parsed, nothing else runs. */
const MAX_FRONTMATTER = 32 * 1024;

const FRONTMATTER = /^\ufeff?---[\t ]*\r?\n(?:([\s\S]*?)\r?\n)?---[\t ]*(?:\r?\n|$)/;

/** The two parts of a `SKILL.md`. */
export interface SkillText {
  /** As JSON. */
  readonly frontmatter: Data;
  /** The rest of the file. */
  readonly body: string;
}

/**
 * Splits a `SKILL.md` into its two parts.
 * @param uri names the file in errors. @throws ResourceClientError `invalid-answer`
 */
export async function skillText(text: string, uri: string): Promise<SkillText> {
  const found = FRONTMATTER.exec(text);
  if (found === null) throw invalidAnswer('The file does not begin with YAML between two lines of ---', uri);
  const [head, written = ''] = found;
  const value = await jsonOf(written, uri);
  if (!isData(value)) throw invalidAnswer('The frontmatter is no mapping of names to values', uri);
  return { frontmatter: value, body: text.slice(head.length) };
}

/** Returns the value of a frontmatter as JSON has it. */
async function jsonOf(written: string, uri: string): Promise<unknown> {
  try {
    const { value } = await parseHead(written, MAX_FRONTMATTER);
    return JSON.parse(JSON.stringify(value));
  } catch (error) {
    // Any other error: the value contains itself, or has too many levels for JSON.
    const why = error instanceof LineFault ? `${error.message} (line ${error.line})` : 'it is not JSON';
    throw invalidAnswer(`The frontmatter cannot be read: ${why}`, uri);
  }
}

/** Returns the fields that differ between entry and file. Their order does not count. */
export const differingFields = (entry: Data, file: Data): readonly string[] =>
  [...new Set([...Object.keys(entry), ...Object.keys(file)])].filter(
    (field) => !Object.hasOwn(entry, field) || !Object.hasOwn(file, field) || !isSame(entry[field], file[field]),
  );

function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((value, at) => isSame(value, other[at]));
  if (isData(one) && isData(other)) return differingFields(one, other).length === 0;
  return one === other;
}
