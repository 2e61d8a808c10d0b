/** Finds the files of a mount that may belong to skills, by listing its folders. */
import { breaks } from '../../core/breaks.ts';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Mount } from '../../core/mounts/mount.ts';
import { publishUri } from '../../core/mounts/published-uris.ts';
import type { Page, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../../protocol/resources.ts';
import { SKILL_FILE } from '../../protocol/skills.ts';

/** The most entries of lists that are looked at in one mount. */
export const MAX_LOOKED_AT = 250_000;

/** The most levels below the roots. */
const MAX_DEPTH = 32;

/** Entries of one page. */
const PAGE_SIZE = 1_000;

export interface Walked {
  /** The files in and below folders that have a `SKILL.md`, and all files of flat lists, by their published URIs. */
  readonly files: Map<string, Resource>;
  /** Folders that could not be listed, with the reason. A skill that contains one is not complete. */
  readonly unlisted: Map<string, string>;
  /** Whether the walk stopped at `MAX_LOOKED_AT` or `MAX_DEPTH`, so that there may be more. */
  readonly cut: boolean;
}

const isContainer = ({ capabilities, mimeType }: Resource): boolean =>
  capabilities?.list === true || mimeType === DIRECTORY_MIME_TYPE;

/** Codes of errors after which a folder counts as empty, since this reader gets nothing from it. */
const IS_CLOSED: ReadonlySet<string> = new Set(['not-found', 'not-listable', 'denied', 'invalid']);

/**
 * Walks all folders of a mount.
 * @param inner lists by published URIs
 * @throws ResourceError the error of listing the roots
 */
export async function walkMount(inner: ResourceProvider, mount: Mount, ctx: Context): Promise<Walked> {
  const walk = createWalk(inner, ctx);
  for await (const { resources, whole } of pagesOf((page) => mount.provider.list(undefined, page, ctx))) {
    const roots = resources.map((root) => ({ ...root, uri: publishUri(mount, root.uri) }));
    walk.count(roots);
    // A flat list has the files of all folders, in any order.
    walk.take(roots, true);
    if (whole !== true) for (const root of roots.filter(isContainer)) await walk.down(root.uri, 0, false);
    if (walk.isFull()) break;
  }
  return walk.walked;
}

/** Does the same for one folder that has a skill. @throws ResourceError the error of listing that folder */
export async function walkFolder(inner: ResourceProvider, folder: string, ctx: Context): Promise<Walked> {
  const walk = createWalk(inner, ctx);
  await walk.down(folder, 0, true, true);
  return walk.walked;
}

function createWalk(inner: ResourceProvider, ctx: Context) {
  const files = new Map<string, Resource>();
  const unlisted = new Map<string, string>();
  const takeBreak = breaks();
  let lookedAt = 0;
  let cut = false;

  /** Counts the entries of a page. An empty page counts as one, since there may be no end of empty pages. */
  function count(resources: readonly Resource[]): void {
    lookedAt += Math.max(1, resources.length);
  }

  function take(resources: readonly Resource[], ofSkill: boolean): void {
    if (ofSkill) for (const resource of resources) if (!isContainer(resource)) files.set(resource.uri, resource);
  }

  /** Whether `MAX_LOOKED_AT` is exceeded. The walk then counts as cut, even if nothing follows. */
  function isFull(): boolean {
    cut ||= lookedAt > MAX_LOOKED_AT;
    return lookedAt > MAX_LOOKED_AT;
  }

  async function down(uri: string, depth: number, inSkill: boolean, first = false): Promise<void> {
    if (isFull()) return;
    if (depth > MAX_DEPTH) {
      cut = true;
      return;
    }
    ctx.signal.throwIfAborted();
    const turn = takeBreak();
    if (turn !== undefined) await turn;
    const resources: Resource[] = [];
    let isWhole = false;
    try {
      for await (const page of pagesOf((wanted) => inner.list(uri, wanted, ctx))) {
        resources.push(...page.resources);
        isWhole ||= page.whole === true;
        count(page.resources);
        if (isFull()) break;
      }
    } catch (error) {
      if (first || ctx.signal.aborted || !(error instanceof ResourceError)) throw error;
      if (!IS_CLOSED.has(error.code)) unlisted.set(uri, error.message);
      return;
    }
    const ofSkill = inSkill || isWhole || resources.some(({ uri: entry }) => entry.endsWith(`/${SKILL_FILE}`));
    take(resources, ofSkill);
    if (isWhole) return;
    for (const entry of resources) if (isContainer(entry)) await down(entry.uri, depth + 1, ofSkill);
  }

  return {
    count,
    take,
    down,
    isFull,
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
