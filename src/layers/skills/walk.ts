/** Finds the files of a mount that may be of skills, by going down its lists. */
import { breaks } from '../../core/breaks.ts';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Mount } from '../../core/mounts/mount.ts';
import { publishUri } from '../../core/mounts/published-uris.ts';
import type { Page, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../../protocol/resources.ts';
import { SKILL_FILE } from '../../protocol/skills.ts';

/** Entries of lists that are looked at in one mount. */
export const MAX_LOOKED_AT = 250_000;

/** Levels below the roots. */
const MAX_DEPTH = 32;

/** Entries that are asked for at once. */
const PAGE_SIZE = 1_000;

export interface Walked {
  /** Files in folders with a `SKILL.md` or below them, by their published URIs. */
  readonly files: Map<string, Resource>;
  /** Folders that could not be listed, and why: a skill around them is not known whole. */
  readonly unlisted: Map<string, string>;
  /** There are more entries than are looked at, or deeper ones. */
  readonly cut: boolean;
}

const isContainer = ({ capabilities, mimeType }: Resource): boolean =>
  capabilities?.list === true || mimeType === DIRECTORY_MIME_TYPE;

/** Such a folder has nothing for this reader, like one that is not there. */
const IS_CLOSED: ReadonlySet<string> = new Set(['not-found', 'not-listable', 'denied', 'invalid']);

/**
 * @param inner lists by published URIs
 * @throws ResourceError what listing the roots throws
 */
export async function walkMount(inner: ResourceProvider, mount: Mount, ctx: Context): Promise<Walked> {
  const walk = createWalk(inner, ctx);
  for await (const { resources, whole } of pagesOf((page) => mount.provider.list(undefined, page, ctx))) {
    const roots = resources.map((each) => ({ ...each, uri: publishUri(mount, each.uri) }));
    // A flat list has the files of all folders, in any order.
    walk.take(roots, true);
    if (whole !== true) for (const root of roots.filter(isContainer)) await walk.down(root.uri, 0, false);
  }
  return walk.walked;
}

/** The same of one folder, which has a skill. @throws ResourceError what listing it throws */
export async function walkFolder(inner: ResourceProvider, folder: string, ctx: Context): Promise<Walked> {
  const walk = createWalk(inner, ctx);
  await walk.down(folder, 0, true, true);
  return walk.walked;
}

function createWalk(inner: ResourceProvider, ctx: Context) {
  const files = new Map<string, Resource>();
  const unlisted = new Map<string, string>();
  const taken = breaks();
  let looked = 0;
  let cut = false;

  function take(resources: readonly Resource[], ofSkill: boolean): void {
    looked += resources.length;
    if (ofSkill) for (const each of resources) if (!isContainer(each)) files.set(each.uri, each);
  }

  async function down(uri: string, depth: number, inSkill: boolean, first = false): Promise<void> {
    if (depth > MAX_DEPTH || looked > MAX_LOOKED_AT) {
      cut = true;
      return;
    }
    ctx.signal.throwIfAborted();
    const turn = taken();
    if (turn !== undefined) await turn;
    const resources: Resource[] = [];
    let isWhole = false;
    try {
      for await (const page of pagesOf((wanted) => inner.list(uri, wanted, ctx))) {
        resources.push(...page.resources);
        isWhole ||= page.whole === true;
        if (looked + resources.length <= MAX_LOOKED_AT) continue;
        cut = true;
        break;
      }
    } catch (error) {
      if (first || ctx.signal.aborted || !(error instanceof ResourceError)) throw error;
      if (!IS_CLOSED.has(error.code)) unlisted.set(uri, error.message);
      return;
    }
    const ofSkill = inSkill || isWhole || resources.some((each) => each.uri.endsWith(`/${SKILL_FILE}`));
    take(resources, ofSkill);
    if (isWhole) return;
    for (const each of resources) if (isContainer(each)) await down(each.uri, depth + 1, ofSkill);
  }

  return {
    take,
    down,
    get walked(): Walked {
      return { files, unlisted, cut };
    },
  };
}

async function* pagesOf(list: (page: Page) => Promise<ResourcePage>): AsyncGenerator<ResourcePage, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await list({ cursor, limit: PAGE_SIZE });
    yield page;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}
