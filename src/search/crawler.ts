/**
 * Fills an index and keeps it true: goes through the folders one after the other, reads what is new or has changed, and takes
 * out what is gone. It goes on where it was when it was ended, because what has not changed is not read again.
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

/** The most folders that wait to be gone through; with more, the rest comes with the next round. */
const MAX_WAITING = 100_000;

/** The most resources whose change waits to be looked at; with more, everything is looked at. */
const MAX_CHANGED = 10_000;

/** The most levels below the mounts. */
const MAX_DEPTH = 64;

/** Entries of a page of a list. */
const PAGE = 100;

/** Resources that are read at a time. */
const AT_ONCE = 4;

/** Resources, and characters of text, that are put in together. */
const BATCH = 256;
const BATCH_CHARACTERS = 1024 * 1024;

/** The part of its time in which it works; callers have the rest. */
const SHARE = 0.8;

export interface CrawlerOptions {
  readonly provider: Operations;
  readonly store: IndexStore;
  /** Undefined for what is not to be in the index. */
  readonly mountOf: (uri: string) => string | undefined;
  readonly mounts: () => readonly string[];
  readonly kindOf: (resource: Resource) => string;
  /** Is told of each resource and folder that there is, with the folder that it was found in. */
  readonly found: (resource: Resource, parent: string | undefined) => void;
  /** Is told of each that is gone. */
  readonly lost: (uri: string) => void;
  readonly ctx: Context;
}

export interface Crawler {
  /** Goes through everything again. */
  again(): void;
  /** The resource, or what is in the folder, may have changed. */
  changed(uri: string): void;
  /** Works until there is nothing to do. @throws SqlFault; the reason of the signal */
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
  let characters = 0;
  let since = performance.now();

  /** The batch that is being put in while the next one is read, and what is in it. */
  let putting: Promise<void> = Promise.resolve();
  let onTheWay: readonly Entry[] = [];

  /** Begins to put the batch in, once the one before it is there. */
  async function flush(): Promise<void> {
    await put();
    const full = [...batch.values()];
    const mayFill = characters >= store.room;
    batch = new Map();
    characters = 0;
    if (full.length === 0) return;
    onTheWay = full;
    putting = store.put(full);
    // Whoever waits for it is told.
    putting.catch(() => {});
    // Nothing more is read before it is known whether there is room for it.
    if (mayFill) await put();
  }

  /** Resolves when the batch before is there. Meanwhile nothing is worked here, and it counts as rest. */
  async function put(): Promise<void> {
    const begun = performance.now();
    await putting;
    onTheWay = [];
    since += performance.now() - begun;
  }

  async function flushAll(): Promise<void> {
    await flush();
    await put();
  }

  /** Between two pieces of work: others have their turn, and changes come first. */
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
    // Puts nothing in again that is as it was.
    const state =
      version ?? digestOf([resource.name, resource.title, resource.mimeType, resource.size, problem, passages]);
    if (known !== undefined && known.kind === kind && known.version === state) return;
    batch.set(resource.uri, {
      ...{ uri: resource.uri, parent: folder.uri, mount, container, kind, version: state, problem, passages },
      ...{ type: resource.mimeType, name: resource.name, title: resource.title ?? '', size: resource.size },
      path: pathIn(folder, resource),
      changed: timeOf(resource),
      // It is looked at again when there is room.
      ...(!hasText && !container && { version: undefined, problem: 'maxBytes', passages: [] }),
    });
    characters += bytes;
    if (batch.size >= BATCH || characters >= BATCH_CHARACTERS) await flush();
  }

  async function addAll(resources: readonly Resource[], folder: Folder): Promise<ReadonlySet<string>> {
    const known = await store.known(resources.map(({ uri }) => uri));
    for (let at = 0; at < resources.length; at += AT_ONCE) {
      const some = resources.slice(at, at + AT_ONCE);
      await Promise.all(some.map((resource) => add(resource, folder, known.get(resource.uri))));
      await takeTurns();
      if (changes.size > 0) await lookAtChanges();
    }
    return new Set(resources.map(({ uri }) => uri));
  }

  /** One folder: what is in it, and not what is below that. */
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
    if (!missed) await removeOthers(folder, listed);
  }

  function wait(resource: Resource, folder: Folder): void {
    if (mountOf(resource.uri) === undefined || folder.depth >= MAX_DEPTH || folders.size >= MAX_WAITING) return;
    folders.set(resource.uri, { uri: resource.uri, path: pathIn(folder, resource), depth: folder.depth + 1 });
  }

  async function removeOthers(folder: Folder, listed: ReadonlySet<string>): Promise<void> {
    const isOther = ({ uri, parent }: Entry): boolean => parent === folder.uri && !listed.has(uri);
    if (onTheWay.some(isOther) || [...batch.values()].some(isOther)) await flushAll();
    const mounts = folder.uri === undefined ? options.mounts() : [''];
    const had = (await Promise.all(mounts.map((mount) => store.childrenOf(folder.uri, mount)))).flat();
    await removeAll(had.filter(({ uri }) => !listed.has(uri)));
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
    await put();
    const known = (await store.known([uri])).get(uri);
    try {
      const resource = await provider.metadata(uri, ctx);
      const path = known?.path ?? resource.name;
      if (resource.capabilities?.list === true) await goThrough({ uri, path, depth: 0 }, true);
      // Its time may be as it was, since clocks are coarse: it is read anew. What is new comes with its folder.
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
            ctx.log.info('a folder is left out of the index for now', { uri: first[0], error });
          }
        }
        await flushAll();
      } catch (error) {
        await putting.catch(() => {});
        putting = Promise.resolve();
        onTheWay = [];
        batch = new Map();
        characters = 0;
        throw error;
      }
    },
  };
}

const isGone = (error: unknown): boolean =>
  error instanceof ResourceError && (error.code === 'not-found' || error.code === 'denied');

const parentPath = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** Names from the mount down, without the mount's own. */
const pathIn = (folder: Folder, { name, capabilities }: Resource): string =>
  folder.uri === undefined && capabilities?.list === true ? '' : folder.path === '' ? name : `${folder.path}/${name}`;

/** The same as long as the resource is; undefined where nothing tells of its changes. */
const digestOf = (facts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(facts)).digest('base64');

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
