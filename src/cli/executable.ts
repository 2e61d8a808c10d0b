/** Whether a path leads to a program: such a file is served like any other, and may have been meant to be run. */
import { stat } from 'node:fs/promises';

/** A file with a right to be executed. Windows has no such right: nothing is a program there. */
export async function isExecutable(path: string): Promise<boolean> {
  if (process.platform === 'win32') return false;
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true && (found.mode & 0o111) !== 0;
}
