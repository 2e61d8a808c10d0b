/**
 * Writes a skill of a server as a folder of files. The folder is written under a temporary name and renamed once every
 * file is there and verified, so that no incomplete skill is left.
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
  /** Replaces an existing skill of that name, with its whole folder. Default false. */
  readonly force?: boolean | undefined;
  /** Names that files keep although tools act on them, as in `getResources`. Default: none; such a name gets a `_` in front. */
  readonly keepNames?: readonly string[] | undefined;
}

/** A skill that was written. */
export interface WrittenSkill {
  /** The real path of its folder. */
  readonly folder: string;
  readonly files: readonly WrittenSkillFile[];
  /** Whether every file matches the skill's entry. False for a `dynamic` skill. */
  readonly verified: boolean;
}

export interface WrittenSkillFile {
  readonly uri: string;
  /**
   * The path from the folder of the skill, with slashes. It differs from the server's name if that name would lead
   * outside, or make tools act on the file.
   */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Whether its name differs from the server's. */
  readonly renamed: boolean;
}

/**
 * Writes a skill into a folder of its name below `folder`. Each file is verified first, links are not followed, and no file is
 * made executable.
 * @param folder created if it is missing
 * @throws ResourceClientError those of `readSkill`; `invalid` if another file or folder is in the way; errors of the disk
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

/** Whether there is a skill that may be replaced. @throws ResourceClientError `invalid` if something else is in the way */
async function mayReplace(place: string, force: boolean): Promise<boolean> {
  const found = await lookAt(place);
  if (found === undefined) return false;
  if (!force) throw new ResourceClientError('invalid', `${place} exists already`);
  // A server chooses the names of its skills, so a folder that is not a skill is never replaced.
  if (found.isDirectory() && (await lookAt(join(place, SKILL_FILE)))?.isFile() === true) return true;
  throw new ResourceClientError('invalid', `${place} is not a skill, so it is not replaced`);
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
