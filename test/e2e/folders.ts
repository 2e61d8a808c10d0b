/** Folders and configurations that exist during one test. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';

export interface Folder extends AsyncDisposable {
  readonly path: string;
  /** The path of a file in the folder. */
  at(...names: readonly string[]): string;
  /** Writes a file, and makes the folders in its path. */
  write(name: string, content: string | Uint8Array): Promise<void>;
}

/** A new folder with these files. A name that ends in a slash is an empty folder. */
export async function temporaryFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<Folder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'vitrine-test-')));
  const at = (...names: readonly string[]): string => join(path, ...names);
  const write = async (name: string, content: string | Uint8Array): Promise<void> => {
    await mkdir(dirname(at(name)), { recursive: true });
    await writeFile(at(name), content);
  };
  for (const [name, content] of Object.entries(files)) {
    if (name.endsWith('/')) await mkdir(at(name), { recursive: true });
    else await write(name, content);
  }
  return { path, at, write, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Writes `vitrine.yaml` into a folder and returns its path. */
export async function writeConfig(folder: Folder, config: object, name = 'vitrine.yaml'): Promise<string> {
  await folder.write(name, stringify(config));
  return folder.at(name);
}
