/** Which tests cite what in their titles: ids of requirements in brackets, as in `[SEC-RES-1]`, and words. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const CITATION = /\[([A-Z0-9]{2,}-(?:[A-Z0-9]+-)*\d+(?:, (?:[A-Z0-9]+-)+\d+)*)\]/g;
const STRING = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\\n]|\\.)*`/g;

export interface Citation {
  readonly id: string;
  /** From the root of the repository. */
  readonly file: string;
}

/** A test file, and its string literals, where titles are. */
export interface TitledFile {
  readonly file: string;
  readonly strings: readonly string[];
}

/** All test files below `root`, except the one about citations. */
export function titledFiles(root: string): readonly TitledFile[] {
  return ['src', 'plug-ins', 'test']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
    )
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules/'))
    .filter((file) => file !== 'test/requirements.test.ts')
    .sort()
    .map((file) => ({ file, strings: stringsIn(readFileSync(join(root, file), 'utf8')) }));
}

export function stringsIn(text: string): readonly string[] {
  return text.match(STRING) ?? [];
}

/** Ids in brackets in the strings of a file, each as often as it occurs. */
export function citationsIn({ file, strings }: TitledFile): readonly Citation[] {
  return strings
    .flatMap((string) => [...string.matchAll(CITATION)])
    .flatMap(([, ids = '']) => ids.split(', '))
    .map((id) => ({ id, file }));
}
