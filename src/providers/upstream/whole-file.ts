/** Replaces files as a whole: a reader, also in another process, sees either the old or the new content. */
import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';

/** Replaces a file, or makes it. @param mode the mode of the new file, whatever the umask is */
export async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(draft, 'wx', mode);
    try {
      await file.chmod(mode);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
