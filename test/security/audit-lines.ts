/** Lines of an audit file, as a program reads them. */
import { readFile } from 'node:fs/promises';

export type Line = Readonly<Record<string, unknown>>;

export const linesOf = async (file: string): Promise<Line[]> =>
  (await readFile(file, 'utf8'))
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
