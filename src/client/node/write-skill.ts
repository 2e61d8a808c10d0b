/**
 * A skill of a server as a folder of files. It is written beside its place, and takes its place when every file is there
 * and verified, so that nothing half is ever left.
 */
import { lstat, mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SKILL_FILE, type Skill } from '../../protocol/skills.ts';
import type { CallOptions } from '../asking.ts';
import type { ResourceClient } from '../client.ts';
import { ResourceClientError } from '../errors.ts';
import { skillIn, skillRoot } from '../skills/entry.ts';
import { readSkill } from '../skills/read.ts';
import { keptNames } from './get/acting.ts';
import { safeName } from './get/names.ts';
import { createPlacement } from './get/placement.ts';

export interface WriteSkillOptions extends CallOptions {
  /** Replaces a skill of that name that is there already, with all that is in its folder. Default false. */
  readonly force?: boolean | undefined;
  /** Names that files have though tools act on them, as those of `getResources`. Default: none; a `_` comes before them. */
  readonly keepNames?: readonly string[] | undefined;
}

/** A skill that was written. */
export interface WrittenSkill {
  /** The real path of its folder. */
  readonly folder: string;
  readonly files: readonly WrittenSkillFile[];
  /** Every file is as its entry says. False for a `dynamic` skill. */
  readonly verified: boolean;
}

export interface WrittenSkillFile {
  readonly uri: string;
  /** With slashes, from the folder of the skill. Not the server's name where that would lead elsewhere, or act. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Its name is another one than the server's. */
  readonly renamed: boolean;
}

/**
 * Writes a skill into a folder of its name below `folder`. Each file is verified before, links are not followed, and no file
 * can be executed because of it.
 * @param folder made if it is not there
 * @throws ResourceClientError those of `readSkill`; `invalid` for what is in the way; errors of the disk
 */
export async function writeSkill(
  client: ResourceClient,
  skill: Skill,
  folder: string,
  { force = false, keepNames = [], ...options }: WriteSkillOptions = {},
): Promise<WrittenSkill> {
  const keep = keptNames(keepNames);
  const start = skillRoot(skillIn(skill));
  await mkdir(folder, { recursive: true });
  const parent = await realpath(folder);
  const place = join(parent, safeName(skill.frontmatter.name, { top: true, file: false }, keep));
  const replaces = await mayReplace(place, force);
  const draft = await mkdtemp(join(parent, '.vitrine-skill-'));
  try {
    const made = join(draft, 'new');
    await mkdir(made);
    const placement = createPlacement(start, keep);
    const files: WrittenSkillFile[] = [];
    let verified = true;
    for await (const file of readSkill(client, skill, options)) {
      const path = placement.place(file.uri, false);
      await mkdir(join(made, ...path.slice(0, -1)), { recursive: true });
      await writeFile(join(made, ...path), file.bytes, { flag: 'wx' });
      const [name, sent] = [path.join('/'), file.path.join('/')];
      files.push({ uri: file.uri, path: name, size: file.bytes.length, renamed: name !== sent });
      verified &&= file.verified;
    }
    options.signal?.throwIfAborted();
    await takePlace(made, place, replaces ? join(draft, 'old') : undefined);
    return { folder: place, files, verified };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Whether something is there that may be replaced. @throws ResourceClientError `invalid` for what may not */
async function mayReplace(place: string, force: boolean): Promise<boolean> {
  const found = await lookAt(place);
  if (found === undefined) return false;
  if (!force) throw new ResourceClientError('invalid', `There is something at ${place} already`);
  // A server chooses the names of its skills: a folder that is none is left alone.
  if (found.isDirectory() && (await lookAt(join(place, SKILL_FILE)))?.isFile() === true) return true;
  throw new ResourceClientError('invalid', `The folder of a skill is replaced, and ${place} is none`);
}

async function takePlace(made: string, place: string, old: string | undefined): Promise<void> {
  if (old !== undefined) await rename(place, old);
  try {
    await rename(made, place);
  } catch (error) {
    if (old !== undefined) await rename(old, place);
    throw error;
  }
}

async function lookAt(path: string): Promise<Awaited<ReturnType<typeof lstat>> | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
