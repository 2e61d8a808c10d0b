/**
 * Makes the folder that git runs in instead of the repository: it has our own configuration, and links to the
 * repository's objects and references. Git never reads the rest of the repository: its configuration, which can name
 * programs, its hooks, attributes, index and grafts (`docs/decisions/0032-git.md`).
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Place } from './repository.ts';

export interface StandIn {
  readonly directory: string;
  /** Removes the folder. May be called twice. */
  remove(): void;
}

export interface Format {
  readonly objectFormat: 'sha1' | 'sha256';
  readonly reftable: boolean;
}

/** Folders that exist now. The process removes them when it exits, unless it is killed. */
const present = new Set<string>();

function removePresent(): void {
  for (const directory of present) rmSync(directory, { recursive: true, force: true });
}

const FAN_OUT = Array.from({ length: 256 }, (_, index) => index.toString(16).padStart(2, '0'));

/** Makes the folder with our configuration, without objects and references. */
export function makeFolder({ objectFormat, reftable }: Format): StandIn {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'vitrine-git-')));
  if (present.size === 0) process.once('exit', removePresent);
  present.add(directory);
  const remove = (): void => {
    present.delete(directory);
    if (present.size === 0) process.removeListener('exit', removePresent);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    mkdirSync(join(directory, 'objects', 'info'), { recursive: true });
    writeFileSync(join(directory, 'HEAD'), 'ref: refs/heads/.none\n');
    writeFileSync(join(directory, 'config'), configuration(objectFormat, reftable));
  } catch (error) {
    remove();
    throw error;
  }
  return { directory, remove };
}

/**
 * Makes the folder, synchronously: for many links this costs less than asynchronous calls.
 *
 * @param borrow whether git also reads objects of other repositories that this one names
 */
export function makeStandIn({ commonDirectory }: Place, format: Format, borrow: boolean): StandIn {
  const folder = makeFolder(format);
  const { directory } = folder;
  const link = (name: string, kind: 'junction' | 'file' = 'junction'): void =>
    symlinkSync(join(commonDirectory, name), join(directory, name), kind);
  try {
    if (borrow)
      writeFileSync(join(directory, 'objects', 'info', 'alternates'), `${quoted(join(commonDirectory, 'objects'))}\n`);
    else for (const name of ['pack', ...FAN_OUT]) link(`objects/${name}`);
    link('refs');
    link('packed-refs', 'file');
    link('shallow', 'file');
    if (format.reftable) link('reftable');
  } catch (error) {
    folder.remove();
    throw error;
  }
  return folder;
}

function configuration(objectFormat: Format['objectFormat'], reftable: boolean): string {
  const extended = objectFormat !== 'sha1' || reftable;
  return [
    '[core]',
    `\trepositoryformatversion = ${extended ? 1 : 0}`,
    '\tbare = true',
    ...(extended ? ['[extensions]'] : []),
    ...(objectFormat === 'sha1' ? [] : [`\tobjectformat = ${objectFormat}`]),
    ...(reftable ? ['\trefstorage = reftable'] : []),
    '',
  ].join('\n');
}

/** Quotes a path for `alternates`, where git could read it as something else. */
const quoted = (path: string): string => (/^["#]|[\n\\"]/.test(path) ? JSON.stringify(path) : path);
