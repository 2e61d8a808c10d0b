/** Formats skills as lines for people. */
import { DYNAMIC, type Skill } from '../../../protocol/skills.ts';
import { type Output, safe } from '../printing/output.ts';
import { sizeText } from '../printing/rows.ts';

/** The most characters of a description in a list. */
const MAX_ABOUT = 100;

/** Formats a skill as `draw   5  1.2K  skill://draw/SKILL.md  Draws rooms`: name, files, bytes, URI and description. */
export function skillRow({ uri, frontmatter, resources }: Skill, output: Output): string {
  const { name, description } = frontmatter;
  const dynamic = resources === DYNAMIC;
  const about = safe(description.slice(0, MAX_ABOUT).toWellFormed());
  return [
    output.paint('bold', name.padEnd(24)),
    (dynamic ? '-' : String(resources.length)).padStart(3),
    output.paint('green', sizeText(dynamic ? undefined : bytesOf(resources)).padStart(5)),
    safe(uri),
    output.paint('dim', description.length > MAX_ABOUT ? `${about}…` : about),
  ].join('  ');
}

/** Adds up the sizes of files in bytes. */
export const bytesOf = (files: readonly { readonly size: number }[]): number =>
  files.reduce((sum, { size }) => sum + size, 0);

/** Formats the number and size of files as `5 files, 1.2K` or `1 file, 51 bytes`. */
export const filesText = (files: number, bytes: number): string =>
  `${files} ${files === 1 ? 'file' : 'files'}, ${sizeText(bytes)}${bytes < 1_000 ? ' bytes' : ''}`;
