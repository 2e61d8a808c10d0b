/** Recognizes programs. `vitrine` serves them like other files, but the user may have meant to run them. */
import { stat } from 'node:fs/promises';

/** Tells whether a path is a file that may be executed. On Windows, which has no such right, nothing is a program. */
export async function isExecutable(path: string): Promise<boolean> {
  if (process.platform === 'win32') return false;
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true && (found.mode & 0o111) !== 0;
}
