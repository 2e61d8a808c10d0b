/**
 * The skills of one mount for one kind of reader. A request refreshes them if they are a second old; unchanged files are not
 * read again.
 */

import { breaks } from '../../core/breaks.ts';
import { type Context, withSignal } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Mount } from '../../core/mounts/mount.ts';
import { nativeUri } from '../../core/mounts/published-uris.ts';
import type { ServedSkill } from '../../core/operations.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { noSuchSkill, skillFilter } from '../../core/skill.ts';
import { SkillFault, skillFolderOf } from '../../core/skill-entry.ts';
import { abortable } from '../../core/waiting/abortable.ts';
import type { Resource } from '../../protocol/resources.ts';
import { createDigests } from './digests.ts';
import { byUri, createEntries } from './entry.ts';
import type { SharedDigests } from './shared-digests.ts';
import { type Walked, walkFolder, walkMount } from './walk.ts';

/** How long a catalogue counts as current, in milliseconds. */
export const LOOK_AGAIN_MS = 1_000;

/** The time limit of one refresh, in milliseconds. */
const LOOK_MS = 120_000;

/** The most skills of one mount. */
export const MAX_SKILLS = 10_000;

/** The most reasons that are kept. */
const MAX_LEFT_OUT = 1_000;

/** One or more skills that are not served, and the reason. */
export interface LeftOut {
  /** The URI of its `SKILL.md`, or the name of the mount where several skills are concerned. */
  readonly uri: string;
  readonly reason: string;
}

export interface Snapshot {
  /** Sorted by URI. */
  readonly skills: readonly ServedSkill[];
  readonly leftOut: readonly LeftOut[];
}

export interface Catalogue {
  /** @throws ResourceError errors of listing the mount's roots, and `timeout` */
  snapshot(ctx: Context): Promise<Snapshot>;
  /** Reads the skill again. @throws ResourceError `invalid` if there is none */
  get(uri: string, ctx: Context): Promise<ServedSkill>;
  /** Returns the skill of a `SKILL.md`, as far as known. */
  known(uri: string): ServedSkill | undefined;
  /** Whether this is a file of a known skill. */
  holds(uri: string): boolean;
  /** Whether `holds` knows all files. */
  readonly isKnown: boolean;
  close(): void;
}

export interface CatalogueOptions {
  /** The provider under its published URIs. */
  readonly inner: ResourceProvider;
  readonly mount: Mount;
  /** The most bytes of a file that a client gets in one read. */
  readonly maxFileBytes: number;
  /** The context of refreshes, with the principal. */
  readonly ctx: Context;
  /** Digests that other processes have made for the same reader. */
  readonly shared?: SharedDigests | undefined;
}

export function createCatalogue({ inner, mount, maxFileBytes, ctx: own, shared }: CatalogueOptions): Catalogue {
  const digests = createDigests(inner, maxFileBytes, shared);
  const entries = createEntries(digests, mount.name);
  const filter = skillFilter(mount);
  const closed = new AbortController();
  let files: ReadonlyMap<string, unknown> = new Map();
  let known: ReadonlyMap<string, ServedSkill> = new Map();
  let current: { readonly snapshot: Snapshot; readonly at: number } | undefined;
  let looking: Promise<Snapshot> | undefined;

  const isWanted = (skill: string): boolean => filter(nativeUri(mount, skill) ?? skill);

  async function look(ctx: Context): Promise<Snapshot> {
    const at = performance.now();
    const walked = await walkMount(inner, mount, ctx);
    files = walked.files;
    const leftOut: LeftOut[] = [];
    const all = [...walked.files.values()].sort(byUri);
    const found = all.map(({ uri }) => uri).filter((uri) => skillFolderOf(uri) !== undefined && isWanted(uri));
    if (walked.cut) leftOut.push({ uri: mount.name, reason: 'it has more entries, or deeper ones, than are searched' });
    if (found.length > MAX_SKILLS)
      leftOut.push({
        uri: mount.name,
        reason: `it has ${found.length} skills, of which the first ${MAX_SKILLS} are served`,
      });
    const skills: ServedSkill[] = [];
    const taken = breaks();
    for (const uri of found.slice(0, MAX_SKILLS)) {
      const turn = taken();
      if (turn !== undefined) await turn;
      try {
        skills.push(await entries.make(uri, filesOf(uri, all, walked), ctx));
      } catch (error) {
        if (!(error instanceof SkillFault)) throw error;
        if (leftOut.length < MAX_LEFT_OUT) leftOut.push({ uri, reason: error.message });
      }
    }
    digests.retain(walked.files);
    entries.retain(walked.files);
    files = new Map(skills.flatMap((each) => [...each.files]));
    known = new Map(skills.map((each) => [each.skill.uri, each]));
    const snapshot: Snapshot = { skills, leftOut };
    tell(snapshot);
    current = { snapshot, at };
    return snapshot;
  }

  /** Logs each reason once, as long as it applies. */
  function tell({ leftOut }: Snapshot): void {
    const before = new Set(current?.snapshot.leftOut.map(({ uri, reason }) => `${uri}\n${reason}`));
    for (const { uri, reason } of leftOut)
      if (!before.has(`${uri}\n${reason}`)) own.log.warn('a skill is left out', { mount: mount.name, uri, reason });
  }

  async function one(uri: string, ctx: Context): Promise<ServedSkill> {
    // The mount's own URI for it, whatever the caller's spelling.
    const { uri: skill } = await inner.metadata(uri, ctx);
    const folder = skillFolderOf(skill);
    if (folder === undefined || !isWanted(skill)) throw noSuchSkill(uri);
    const walked = await walkFolder(inner, folder, ctx);
    const all = [...walked.files.values()].sort(byUri);
    return entries.make(skill, filesOf(skill, all, walked), ctx);
  }

  const snapshot: Catalogue['snapshot'] = async (ctx) => {
    if (current !== undefined && performance.now() - current.at < LOOK_AGAIN_MS) return current.snapshot;
    looking ??= inTime(look).finally(() => {
      looking = undefined;
    });
    return abortable(looking, ctx.signal);
  };

  /** Runs for all waiting callers, so no single one can end it. */
  async function inTime<T>(run: (ctx: Context) => Promise<T>): Promise<T> {
    const late = AbortSignal.timeout(LOOK_MS);
    const signal = AbortSignal.any([closed.signal, late]);
    try {
      return await abortable(run(withSignal(own, signal)), signal);
    } catch (error) {
      if (!late.aborted) throw error;
      throw new ResourceError('timeout', `The skills of ${mount.name} were not found within ${LOOK_MS} ms`);
    }
  }

  return {
    snapshot,
    async get(uri, ctx) {
      try {
        return await one(uri, withSignal(own, ctx.signal));
      } catch (error) {
        ctx.signal.throwIfAborted();
        if (error instanceof SkillFault) throw noSuchSkill(uri);
        if (!(error instanceof ResourceError) || error.code === 'unavailable' || error.code === 'timeout') throw error;
      }
      // The folder of the skill cannot be listed by itself, so the skill is looked for among all skills of the mount.
      const found = (await snapshot(ctx)).skills.find(({ skill }) => skill.uri === uri);
      if (found === undefined) throw noSuchSkill(uri);
      return found;
    },
    known: (uri) => known.get(uri),
    holds: (uri) => files.has(uri),
    get isKnown() {
      return current !== undefined;
    },
    close: () => closed.abort(new ResourceError('unavailable', 'The server is closing')),
  };
}

/** @throws SkillFault where one of its folders could not be listed */
function filesOf(skill: string, all: readonly Resource[], { unlisted }: Walked): readonly Resource[] {
  const within = `${skillFolderOf(skill)}/`;
  for (const [folder, reason] of unlisted)
    if (`${folder}/`.startsWith(within)) throw new SkillFault(`${folder} cannot be listed: ${reason}`);
  const from = firstFrom(all, within, (each) => each.uri);
  const files: Resource[] = [];
  for (let at = from; at < all.length && all[at]?.uri.startsWith(within) === true; at++) {
    const file = all[at];
    if (file !== undefined) files.push(file);
  }
  return files;
}

/** Returns the index of the first of sorted items whose URI is not before a text. */
export function firstFrom<T>(all: readonly T[], uri: string, uriOf: (each: T) => string): number {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const each = all[middle];
    if (each !== undefined && uriOf(each) < uri) low = middle + 1;
    else high = middle;
  }
  return low;
}
