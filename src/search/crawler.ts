/**
 * Fills an index and keeps it up to date: goes through the folders one after the other, reads resources that are new or have
 * changed, and removes those that are gone. After a restart, resources that have not changed are not read again.
 */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { giveWay } from '../core/breaks.ts';
import type { Context } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import type { Operations } from '../core/operations.ts';
import { mayHaveContent } from '../core/own-content.ts';
import type { Resource } from '../protocol/resources.ts';
import type { Entry, IndexStore, Known } from './index-store.ts';
import { named, textOf } from './text-of.ts';

/** The most folders that wait for their turn; any others wait for the next round. */
const MAX_WAITING = 100_000;

/** The most changed resources that wait for their turn; with more, everything is looked at again. */
const MAX_CHANGED = 10_000;

/** The most levels of folders below the mounts. */
const MAX_DEPTH = 64;

/** Entries of a page of a list. */
const PAGE = 100;

/** Resources that are read at the same time. */
const AT_ONCE = 4;

/** The most resources that are written together. */
const BATCH = 256;
/** The bytes of text after which a batch is written. */
const BATCH_BYTES = 1024 * 1024;

/** The part of its time in which the crawler works; in the rest it leaves the machine to requests. */
const SHARE = 0.8;

export interface CrawlerOptions {
  readonly provider: Operations;
  readonly store: IndexStore;
  /** Returns the mount of a resource; undefined for a resource that does not belong in the index. */
  readonly mountOf: (uri: string) => string | undefined;
  readonly mounts: () => readonly string[];
  readonly kindOf: (resource: Resource) => string;
  /** Is called for each resource and folder that exists, with the folder that it was found in. */
  readonly found: (resource: Resource, parent: string | undefined) => void;
  /** Is called for each resource and folder that is gone. */
  readonly lost: (uri: string) => void;
  /** Is called when a folder could not be listed, or not all of it. */
  readonly missed: () => void;
  readonly ctx: Context;
}

export interface Crawler {
  /** Makes `work` go through everything again. */
  again(): void;
  /** Makes `work` look at a resource, or into a folder, that may have changed. */
  changed(uri: string): void;
  /** Works until there is nothing left to do. @throws SqlFault; the reason of the signal */
  work(): Promise<void>;
}

interface Folder {
  readonly uri: string | undefined;
  readonly path: string;
  readonly depth: number;
}

const ROOT: Folder = { uri: undefined, path: '', depth: 0 };

export function createCrawler(options: CrawlerOptions): Crawler {
  const { provider, store, mountOf, ctx } = options;
  const folders = new Map<string | undefined, Folder>();
  const changes = new Set<string>();
  let batch = new Map<string, Entry>();
  let batchBytes = 0;
  let since = performance.now();

  /** The write of a batch, which goes on while the next batch is read, and the entries of that batch. */
  let writing: Promise<void> = Promise.resolve();
  let beingWritten: readonly Entry[] = [];

  /** Writes resources, without those that the database refuses. */
  async function put(entries: readonly Entry[]): Promise<void> {
    try {
      await store.put(entries);
    } catch (error) {
      if (!(error instanceof ResourceError)) throw error;
      ctx.signal.throwIfAborted();
      if (error.code === 'invalid' && entries.length > 1) {
        const half = Math.ceil(entries.length / 2);
        await put(entries.slice(0, half));
        await put(entries.slice(half));
        return;
      }
      const uris = entries.map(({ uri }) => uri);
      ctx.log.info('resources are left out of the index for now', { count: uris.length, uri: uris[0], error });
    }
  }

  /** Begins to write the batch when the batch before it is written. */
  async function flush(): Promise<void> {
    do await written();
    while (beingWritten.length > 0);
    const full = [...batch.values()];
    const mayFill = batchBytes >= store.room;
    batch = new Map();
    batchBytes = 0;
    if (full.length === 0) return;
    beingWritten = full;
    writing = put(full);
    // `written` throws the error.
    writing.catch(() => {});
    // If the batch may fill the index, the next resource is read only after the write, which tells whether there is room.
    if (mayFill) await written();
  }

  /** Resolves when the latest batch is written. The wait does not count as work, since the crawler does nothing meanwhile. */
  async function written(): Promise<void> {
    const begun = performance.now();
    const latest = writing;
    await latest;
    // Several calls wait at the same time, and the first of them may have begun the next write.
    if (writing === latest) beingWritten = [];
    since += performance.now() - begun;
  }

  async function flushAll(): Promise<void> {
    await flush();
    await written();
  }

  /** Gives other work its turn, and rests in proportion to the time of its own work. */
  async function takeTurns(): Promise<void> {
    await giveWay();
    ctx.signal.throwIfAborted();
    const worked = performance.now() - since;
    if (worked > 50) {
      await pause(worked * (1 / SHARE - 1), undefined, { signal: ctx.signal });
      since = performance.now();
    }
  }

  async function add(resource: Resource, folder: Folder, known: Known | undefined): Promise<void> {
    const mount = mountOf(resource.uri);
    if (mount === undefined) return;
    const container = resource.capabilities?.list === true;
    const version = versionOf(resource);
    const kind = options.kindOf(resource);
    options.found(resource, folder.uri);
    if (known !== undefined && known.kind === kind && known.version === version && version !== undefined) return;
    const hasText = mayHaveContent(resource) && store.room > 0;
    const { passages, problem, bytes } = hasText
      ? await textOf(provider, resource, ctx)
      : { passages: named(resource), problem: undefined, bytes: 0 };
    // A resource that is in the index as it is now is not written again.
    const state =
      version ?? digestOf([resource.name, resource.title, resource.mimeType, resource.size, problem, passages]);
    if (known !== undefined && known.kind === kind && known.version === state) return;
    batch.set(resource.uri, {
      ...{ uri: resource.uri, parent: folder.uri, mount, container, kind, version: state, problem, passages },
      ...{ type: resource.mimeType, name: resource.name, title: resource.title ?? '', size: resource.size },
      path: pathIn(folder, resource),
      changed: timeOf(resource),
      // Without a version, the resource is read again in the next round, when there may be room.
      ...(!hasText && !container && { version: undefined, problem: 'maxBytes', passages: [] }),
    });
    batchBytes += bytes;
    if (batch.size >= BATCH || batchBytes >= BATCH_BYTES) await flush();
  }

  async function addAll(resources: readonly Resource[], folder: Folder): Promise<ReadonlySet<string>> {
    const known = await store.known(resources.map(({ uri }) => uri));
    for (let at = 0; at < resources.length; at += AT_ONCE) {
      const group = resources.slice(at, at + AT_ONCE);
      const added = await Promise.allSettled(group.map((resource) => add(resource, folder, known.get(resource.uri))));
      // Errors are thrown only when all have settled, so that none of them still reads or writes.
      for (const each of added) if (each.status === 'rejected') throw each.reason;
      await takeTurns();
      if (changes.size > 0) await lookAtChanges();
    }
    return new Set(resources.map(({ uri }) => uri));
  }

  /**
   * Looks at everything in one folder. Folders in it wait for their turn.
   * @param onlyNew whether only folders that the index does not have wait
   */
  async function goThrough(folder: Folder, onlyNew: boolean): Promise<void> {
    const listed = new Set<string>();
    let missed = false;
    function missing(): void {
      missed = true;
    }
    const noted: Context = { ...ctx, notes: { fresh() {}, plain() {}, passOn() {}, missing } };
    let cursor: string | undefined;
    do {
      const page = await provider.list(folder.uri, { cursor, limit: PAGE }, noted);
      const before = onlyNew ? await store.known(page.resources.map(({ uri }) => uri)) : new Map<string, Known>();
      for (const uri of await addAll(page.resources, folder)) listed.add(uri);
      for (const resource of page.resources) {
        const isFolder = resource.capabilities?.list === true && page.whole !== true;
        if (isFolder && !before.has(resource.uri)) wait(resource, folder);
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    if (missed) options.missed();
    else await removeOthers(folder, listed);
  }

  function wait(resource: Resource, folder: Folder): void {
    if (mountOf(resource.uri) === undefined || folder.depth >= MAX_DEPTH || folders.size >= MAX_WAITING) return;
    folders.set(resource.uri, { uri: resource.uri, path: pathIn(folder, resource), depth: folder.depth + 1 });
  }

  async function removeOthers(folder: Folder, listed: ReadonlySet<string>): Promise<void> {
    const isOther = ({ uri, parent }: Entry): boolean => parent === folder.uri && !listed.has(uri);
    if (beingWritten.some(isOther) || [...batch.values()].some(isOther)) await flushAll();
    const mounts = folder.uri === undefined ? options.mounts() : [''];
    const indexed = (await Promise.all(mounts.map((mount) => store.childrenOf(folder.uri, mount)))).flat();
    await removeAll(indexed.filter(({ uri }) => !listed.has(uri)));
  }

  async function removeAll(gone: readonly Known[]): Promise<void> {
    for (const { uri } of gone) options.lost(uri);
    if (gone.length > 0) await store.remove(gone.map(({ id }) => id));
  }

  let looking = false;

  async function lookAtChanges(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      for (const uri of changes) {
        changes.delete(uri);
        await lookAt(uri);
        if (changes.size === 0) await flushAll();
      }
    } finally {
      looking = false;
    }
  }

  async function lookAt(uri: string): Promise<void> {
    if (batch.has(uri)) await flush();
    await written();
    const known = (await store.known([uri])).get(uri);
    try {
      const resource = await provider.metadata(uri, ctx);
      const path = known?.path ?? resource.name;
      if (resource.capabilities?.list === true) await goThrough({ uri, path, depth: 0 }, true);
      // Clocks are coarse, so a resource that has changed is read even if its time is the same. A new one comes with its folder.
      else if (known !== undefined)
        await add(resource, { uri: known.parent, path: parentPath(path), depth: 0 }, undefined);
    } catch (error) {
      if (!(error instanceof ResourceError)) throw error;
      ctx.signal.throwIfAborted();
      if (!isGone(error)) ctx.log.info('a change is not in the index for now', { uri, error });
      else if (known !== undefined) await removeAll([known]);
    }
  }

  return {
    again: () => void folders.set(undefined, ROOT),
    changed(uri) {
      if (changes.size < MAX_CHANGED) changes.add(uri);
      else folders.set(undefined, ROOT);
    },
    async work() {
      since = performance.now();
      try {
        while (changes.size > 0 || folders.size > 0) {
          await lookAtChanges();
          const [first] = folders;
          if (first === undefined) continue;
          folders.delete(first[0]);
          try {
            await goThrough(first[1], false);
          } catch (error) {
            if (!(error instanceof ResourceError)) throw error;
            ctx.signal.throwIfAborted();
            options.missed();
            ctx.log.info('a folder is left out of the index for now', { uri: first[0], error });
          }
        }
        await flushAll();
      } catch (error) {
        await writing.catch(() => {});
        writing = Promise.resolve();
        beingWritten = [];
        batch = new Map();
        batchBytes = 0;
        throw error;
      }
    },
  };
}

const isGone = (error: unknown): boolean =>
  error instanceof ResourceError && (error.code === 'not-found' || error.code === 'denied');

const parentPath = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** Joins the names from the mount down, without the mount's own name. */
const pathIn = (folder: Folder, { name, capabilities }: Resource): string =>
  folder.uri === undefined && capabilities?.list === true ? '' : folder.path === '' ? name : `${folder.path}/${name}`;

const digestOf = (facts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(facts)).digest('base64');

/** Returns a text that stays the same while the resource does not change; undefined if its metadata cannot tell that. */
function versionOf({ name, title, description, mimeType, size, annotations }: Resource): string | undefined {
  const lastModified = annotations?.lastModified;
  return lastModified === undefined
    ? undefined
    : JSON.stringify([name, title, description, mimeType, size, lastModified]);
}

function timeOf({ annotations }: Resource): string | undefined {
  const time = Date.parse(annotations?.lastModified ?? '');
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
