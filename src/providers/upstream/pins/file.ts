/**
 * The file of accepted definitions of a mounted server's tools and prompts, made for review and version control. Equal
 * definitions give equal text: names are sorted, and invisible characters are escaped.
 */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { ResourceError } from '../../../core/errors.ts';
import { canonicalJson, pinOf } from '../../../core/fingerprint.ts';
import { readUpTo } from '../../../core/read-up-to.ts';
import { escapeUnseen } from '../../../core/text/clean-text.ts';
import { type Data, isData } from '../../../protocol/data.ts';
import { locked } from '../auth/lock.ts';
import { writeWhole } from '../whole-file.ts';

export const PIN_KINDS = ['tools', 'prompts'] as const;
export type PinKind = (typeof PIN_KINDS)[number];

/** An accepted definition, with every field. */
export interface Pinned {
  readonly hash: string;
  readonly definition: Data;
}

export type Accepted = Readonly<Record<PinKind, ReadonlyMap<string, Pinned>>>;

/** The most bytes of the file. */
const MAX_BYTES = 32 * 1024 * 1024;

/** The mode of the file. Whoever may read the configuration beside it may read the definitions, too. */
const MODE = 0o644;

/** Hashes definitions. Of two with one name, the first counts. */
export async function accepting(definitions: Readonly<Record<PinKind, readonly Data[]>>): Promise<Accepted> {
  const pinned = async (all: readonly Data[]): Promise<ReadonlyMap<string, Pinned>> => {
    const byName = new Map<string, Pinned>();
    for (const definition of all) {
      const name = String(definition.name);
      if (!byName.has(name)) byName.set(name, { hash: (await pinOf(definition)).hash, definition });
    }
    return byName;
  };
  return { tools: await pinned(definitions.tools), prompts: await pinned(definitions.prompts) };
}

export function textOf(mount: string, accepted: Accepted): string {
  const sorted = (pins: ReadonlyMap<string, Pinned>): object =>
    Object.fromEntries(
      [...pins]
        .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
        .map(([name, { hash, definition }]) => [
          name,
          {
            hash,
            definition: JSON.parse(canonicalJson(definition)),
          },
        ]),
    );
  const content = { version: 1, mount, tools: sorted(accepted.tools), prompts: sorted(accepted.prompts) };
  return `${escapeUnseen(JSON.stringify(content, undefined, 2))}\n`;
}

/** Returns a mark that differs once the file has changed; undefined where there is no file. */
export async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unusable(path, 'cannot be read; give this user the permission', error);
  }
}

/**
 * Returns undefined where there is no file. A definition that was edited by hand does not match its hash, and counts as
 * not accepted.
 * @throws ResourceError `unavailable` for an invalid file: then nothing counts as accepted
 */
export async function readAccepted(path: string): Promise<Accepted | undefined> {
  let bytes: Buffer | undefined;
  try {
    bytes = await readUpTo(path, MAX_BYTES);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unusable(path, 'cannot be read; give this user the permission', error);
  }
  if (bytes === undefined) throw unusable(path, `has more than ${MAX_BYTES} bytes`);
  let content: unknown;
  try {
    content = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw unusable(
      path,
      'is not JSON; restore it from version control, or remove it and review all definitions again',
      error,
    );
  }
  if (!isData(content) || content.version !== 1) throw unusable(path, 'is not a file of pins of version 1');
  return { tools: await pinsIn(path, content.tools), prompts: await pinsIn(path, content.prompts) };
}

async function pinsIn(path: string, section: unknown): Promise<ReadonlyMap<string, Pinned>> {
  if (!isData(section)) throw unusable(path, 'has no tools or no prompts');
  const pins = new Map<string, Pinned>();
  for (const [name, each] of Object.entries(section)) {
    if (!isData(each) || typeof each.hash !== 'string' || !isData(each.definition)) {
      throw unusable(path, `has an entry without hash or definition: ${JSON.stringify(name)}`);
    }
    const { hash, definition } = each;
    const fits = (await pinOf(definition)).hash === hash && definition.name === name;
    pins.set(name, { hash: fits ? hash : 'changed by hand', definition });
  }
  return pins;
}

/** Runs the work under a lock, so that no other process changes the file. */
export const changing = <T>(path: string, work: () => Promise<T>): Promise<T> => locked(`${path}.lock`, work);

/** @throws ResourceError `unavailable` if nothing could read the file again */
function contentOf(path: string, mount: string, accepted: Accepted): string {
  const text = textOf(mount, accepted);
  if (Buffer.byteLength(text) > MAX_BYTES) throw unusable(path, `would have more than ${MAX_BYTES} bytes`);
  return text;
}

/**
 * Creates the file; returns false where another process has created it.
 * @throws ResourceError `unavailable` if it would be too large, or cannot be written
 */
export async function createAccepted(path: string, mount: string, accepted: Accepted): Promise<boolean> {
  const content = contentOf(path, mount, accepted);
  try {
    return await changing(path, async () => {
      if ((await stampOf(path)) !== undefined) return false;
      await writeWhole(path, content, MODE);
      return true;
    });
  } catch (error) {
    throw unusable(path, 'cannot be written; let this user write there, or create it with: vitrine pins review', error);
  }
}

/** @throws ResourceError `unavailable` if the file would be too large, or cannot be written */
export async function writeAccepted(path: string, mount: string, accepted: Accepted): Promise<void> {
  const content = contentOf(path, mount, accepted);
  try {
    await writeWhole(path, content, MODE);
  } catch (error) {
    throw unusable(path, 'cannot be written; let this user write there', error);
  }
}

/** The message contains only the file's name, because clients may see it. */
const unusable = (path: string, problem: string, cause?: unknown): ResourceError =>
  new ResourceError('unavailable', `The file of pins, ${basename(path)}, ${problem}`, { cause });
