/**
 * The vectors of an index. They find passages that mean the same as a question and use other words. A file beside the index keeps
 * them; they are in memory, too, and each question is compared with all of them. A vector is used only while the index holds the
 * version of the resource that the vector was made of.
 */
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { breaks } from '../core/breaks.ts';
import type { Context } from '../core/context.ts';
import type { Embedder } from './embeddings.ts';
import { bytesOf, digestOf, dimensionOf, dot, type Held, heldIn, meantText, textOfHeld } from './held-vectors.ts';
import type { Entry, IndexStore, Known } from './index-store.ts';
import type { Filters } from './question.ts';
import { conditionsOf, type Place } from './ranking.ts';
import type { FileStore } from './store.ts';
import { SqlFault, type Statement, sqlThread } from './thread.ts';

/**
 * The most bytes of all vectors together, with the headings, places and paths beside them. Resources for which there is no room
 * are found by their words alone.
 */
const MAX_VECTOR_BYTES = 256 * 1024 * 1024;

/** The most resources that a question finds by meaning. */
const MAX_FOUND = 50;

/** The index is asked about this many resources at a time. */
const LOOKUP_BATCH = 500;

/** The likeness (cosine) to the question that a passage needs to be found. */
const MIN_LIKENESS = 0.3;

/** Vectors are written to the file after each group of resources with at least this many texts, so that a crash loses few. */
const TEXTS_PER_WRITE = 32;

/** Milliseconds that a question waits for its vector. */
const QUESTION_MS = 2_000;

/** Rows that are loaded at a time. */
const LOAD_BATCH = 1_000;

const FILE = 'vectors.sqlite';
const LOCK = 'vectors.lock';

export interface Vectors {
  /** The URIs of the given resources that have no vectors yet and can get them now. Never throws. */
  lacking(resources: Iterable<Known>): Promise<ReadonlySet<string>>;
  /** Makes and keeps the vectors of resources that are in the index. The server gets only texts without a vector. Never throws. */
  put(entries: readonly Entry[]): Promise<void>;
  /**
   * The passages that mean most nearly what a text means. Never throws.
   * @param kinds the keys of the kinds to search, each with its number in the index
   */
  nearest(text: string, filters: Filters, kinds: ReadonlyMap<string, number>, ctx: Context): Promise<readonly Place[]>;
  /** Removes the vectors of resources and of all below them. @param remove removes them from the index @throws what `remove` throws */
  remove(ids: readonly number[], remove: () => Promise<void>): Promise<void>;
  /**
   * Forgets the vectors of resources that the index does not have. Called when the index is complete, because an index that is
   * being rebuilt still needs them. Never throws.
   */
  prune(): Promise<void>;
  close(): Promise<void>;
}

export interface VectorOptions {
  readonly folder: string;
  readonly library: string;
  readonly store: Pick<FileStore, 'ask'>;
  readonly embedder: Embedder;
  /** Vectors that were made with other settings are deleted. */
  readonly settings: string;
  /** Called when the server gives vectors again and some resources have none. */
  readonly missed: () => void;
  readonly ctx: Context;
}

export function createVectors({ folder, library, store, embedder, settings, missed, ctx }: VectorOptions): Vectors {
  const thread = sqlThread({ library, file: join(folder, FILE), lock: join(folder, LOCK), pragmas: [] });
  const held = new Map<string, Held>();
  let bytes = 0;
  /** Bytes of the smallest resource for which there was no room. */
  let refused: number | undefined;
  /** How many numbers each vector has. */
  let dimension: number | undefined;
  /** Whether a resource of the index has no vectors because the server gave none. */
  let missing = false;
  let opened: Promise<void> | undefined;

  async function load(): Promise<void> {
    // Only this user may read the file. SQLite gives its journal the same mode.
    await (await open(join(folder, FILE), 'a', 0o600)).close();
    try {
      await loadFile();
    } catch (error) {
      if (!(error instanceof SqlFault) || error.kind !== 'damaged') throw error;
      ctx.log.warn('the file of vectors is damaged, and is made anew', { error });
      await thread.close();
      await rm(join(folder, FILE), { force: true });
      await rm(join(folder, `${FILE}-journal`), { force: true });
      await loadFile();
    }
  }

  async function loadFile(): Promise<void> {
    held.clear();
    bytes = 0;
    dimension = undefined;
    await thread.run([
      ['CREATE TABLE IF NOT EXISTS vector (uri TEXT PRIMARY KEY, settings TEXT, held TEXT) WITHOUT ROWID'],
      ['DELETE FROM vector WHERE settings IS NOT ?', settings],
    ]);
    for (let last = ''; ; ) {
      const [rows = []] = await thread.run([
        [`SELECT uri, held FROM vector WHERE uri > ? ORDER BY uri LIMIT ${LOAD_BATCH}`, last],
      ]);
      for (const [uri, text] of rows) {
        const resource = heldIn(String(text));
        dimension ??= dimensionOf(resource);
        if (dimensionOf(resource) === dimension) keep(String(uri), resource);
      }
      last = String(rows.at(-1)?.[0] ?? '');
      if (rows.length < LOAD_BATCH) return;
    }
  }

  /** Replaces the vectors of a resource in memory. @returns whether there was room for the new ones */
  function keep(uri: string, resource: Held | undefined): boolean {
    bytes -= bytesOf(uri, held.get(uri));
    held.delete(uri);
    if (resource === undefined) return false;
    const size = bytesOf(uri, resource);
    if (bytes + size > MAX_VECTOR_BYTES) {
      refused = Math.min(refused ?? size, size);
      return false;
    }
    held.set(uri, resource);
    bytes += size;
    return true;
  }

  async function embed(
    texts: readonly string[],
    signal: AbortSignal,
    mostMs?: number,
  ): Promise<readonly Float32Array[] | undefined> {
    const vectors = await embedder.embed(texts, signal, mostMs);
    const [first] = vectors ?? [];
    if (first === undefined) return vectors;
    if (dimension !== undefined && dimension !== first.length) {
      ctx.log.info('the server of embeddings gives vectors of another dimension: all are made anew');
      held.clear();
      bytes = 0;
      await thread.run([['DELETE FROM vector']]);
      missing = true;
    }
    dimension = first.length;
    if (missing) missed();
    missing = false;
    return vectors;
  }

  /** Makes the vectors of some resources and writes them in one transaction. */
  async function putBatch(entries: readonly Entry[]): Promise<void> {
    const resources = entries.map((entry) => {
      const before = new Map(held.get(entry.uri)?.passages.map(({ digest, vector }) => [digest, vector]));
      const passages = (entry.container ? [] : entry.passages).map((passage) => {
        const text = meantText(entry, passage);
        return { passage, text, digest: digestOf(text) };
      });
      return { entry, before, passages };
    });
    const wanted = new Map(
      resources.flatMap(({ before, passages }) =>
        passages.flatMap(({ text, digest }) => (before.has(digest) ? [] : [[digest, text] as const])),
      ),
    );
    const vectors = wanted.size === 0 ? [] : await embed([...wanted.values()], ctx.signal);
    if (vectors === undefined) missing = true;
    const given = new Map([...wanted.keys()].map((digest, at) => [digest, vectors?.[at]]));
    const statements: Statement[] = [];
    for (const { entry, before, passages } of resources) {
      const { uri, kind, version, path, size, changed } = entry;
      const all = passages.flatMap(({ passage: { text: _text, ...place }, digest }) => {
        const vector = given.get(digest) ?? before.get(digest);
        return vector === undefined || vector.length !== dimension ? [] : [{ ...place, digest, vector }];
      });
      // The vectors that the resource has already stay, and are used the next time.
      if (all.length < passages.length) continue;
      const now = { kind, version, path, size, changed, passages: all };
      if (all.length > 0 && keep(uri, now)) {
        statements.push(['INSERT OR REPLACE INTO vector VALUES (?, ?, ?)', uri, settings, textOfHeld(now)]);
      } else {
        keep(uri, undefined);
        statements.push(['DELETE FROM vector WHERE uri = ?', uri]);
      }
    }
    if (statements.length > 0) await thread.run(statements, true);
  }

  /** Loads the file if needed and does some work. If that fails, logs the error and returns `otherwise`. */
  async function safely<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      opened ??= load();
      await opened;
      return await work();
    } catch (error) {
      opened = undefined;
      if (!ctx.signal.aborted) ctx.log.warn('the vectors of the index cannot be used now', { error });
      return otherwise;
    }
  }

  /** The version and kind of each given resource that is in the index and passes the filters. */
  async function inIndex(uris: readonly string[], filters: Filters) {
    const { sql, parameters } = conditionsOf(filters);
    const [rows = []] = await store.ask([
      [
        `SELECT uri, version, kind FROM resource WHERE uri IN (SELECT value FROM json_each(?))${sql}`,
        JSON.stringify(uris),
        ...parameters,
      ],
    ]);
    return new Map(rows.map(([uri, version, kind]) => [String(uri), { version, kind: Number(kind) }]));
  }

  /** The URIs of some resources and of all below them. */
  async function withChildren(ids: readonly number[]): Promise<readonly string[]> {
    const [rows = []] = await store.ask([
      [
        `WITH RECURSIVE gone (uri) AS (
          SELECT uri FROM resource WHERE id IN (SELECT value FROM json_each(?))
          UNION SELECT resource.uri FROM resource JOIN gone ON resource.parent = gone.uri)
        SELECT uri FROM gone`,
        JSON.stringify(ids),
      ],
    ]);
    return rows.map(([uri]) => String(uri));
  }

  async function forget(uris: readonly string[]): Promise<void> {
    for (const uri of uris) keep(uri, undefined);
    const statements = uris.map((uri): Statement => ['DELETE FROM vector WHERE uri = ?', uri]);
    if (statements.length > 0) await thread.run(statements, true);
  }

  return {
    async remove(ids, remove) {
      const gone = ids.length === 0 ? [] : await safely(() => withChildren(ids), []);
      await safely(() => forget(gone), undefined);
      await remove();
    },
    prune: () =>
      safely(async () => {
        const all = [...held.keys()];
        for (let first = 0; first < all.length; first += LOOKUP_BATCH) {
          const batch = all.slice(first, first + LOOKUP_BATCH);
          const indexed = await inIndex(batch, {});
          await forget(batch.filter((uri) => !indexed.has(uri)));
        }
      }, undefined),
    lacking: (resources) =>
      safely(async () => {
        const full = refused !== undefined && bytes + refused > MAX_VECTOR_BYTES;
        const none = embedder.resting || full;
        const uris = [...resources].flatMap(({ uri, container, version, kind }) => {
          const has = held.get(uri);
          return none || container || version === undefined || (has?.version === version && has.kind === kind)
            ? []
            : [uri];
        });
        return new Set(uris);
      }, new Set<string>()),
    put: (entries) =>
      safely(async () => {
        let batch: Entry[] = [];
        let texts = 0;
        for (const entry of entries) {
          batch.push(entry);
          texts += entry.passages.length;
          if (texts < TEXTS_PER_WRITE) continue;
          await putBatch(batch);
          batch = [];
          texts = 0;
        }
        await putBatch(batch);
      }, undefined),
    nearest: (text, filters, kinds, asking) =>
      safely(async () => {
        if (held.size === 0) return [];
        const [wanted] = (await embed([text], asking.signal, QUESTION_MS)) ?? [];
        if (wanted === undefined) return [];
        /** Each resource with the place of its likest passage. */
        const found: {
          readonly uri: string;
          readonly likeness: number;
          readonly at: number;
          readonly resource: Held;
        }[] = [];
        const taken = breaks();
        for (const [uri, resource] of held) {
          if (!kinds.has(resource.kind)) continue;
          const likenesses = resource.passages.map(({ vector }) => dot(vector, wanted));
          const likeness = Math.max(...likenesses);
          if (likeness >= MIN_LIKENESS) found.push({ uri, likeness, at: likenesses.indexOf(likeness), resource });
          const turn = taken();
          if (turn !== undefined) await turn;
        }
        found.sort((a, b) => b.likeness - a.likeness || (a.uri < b.uri ? -1 : 1));
        const places: Place[] = [];
        for (let first = 0; first < found.length && places.length < MAX_FOUND; first += LOOKUP_BATCH) {
          const batch = found.slice(first, first + LOOKUP_BATCH);
          const indexed = await inIndex(
            batch.map(({ uri }) => uri),
            filters,
          );
          for (const { uri, at, resource } of batch) {
            const now = indexed.get(uri);
            const passage = resource.passages[at];
            if (passage === undefined || now === undefined) continue;
            if (now.version !== (resource.version ?? null) || now.kind !== kinds.get(resource.kind)) continue;
            const { headings, page, lines, bytes: place } = passage;
            const heading = headings.length === 0 ? undefined : headings.join(' > ');
            const { path, size, changed } = resource;
            places.push({ uri, path, kind: now.kind, heading, page, lines, bytes: place, size, changed });
          }
        }
        return places.slice(0, MAX_FOUND);
      }, []),
    async close() {
      await opened?.catch(() => {});
      await thread.close();
    },
  };
}

/**
 * Adds vectors to a store: `put` makes the vectors of resources, and `remove` deletes them. A resource may lack its vectors,
 * because the server of embeddings was away or Vitrine was killed before they were made. Its version is then shown as unknown, so
 * that the resource is read and put in again.
 */
export const withVectors = (store: IndexStore, vectors: Vectors): IndexStore => ({
  ...store,
  async known(uris) {
    const known = await store.known(uris);
    const lacking = await vectors.lacking(known.values());
    if (lacking.size === 0) return known;
    return new Map(
      [...known].map(([uri, resource]) => [uri, lacking.has(uri) ? { ...resource, version: undefined } : resource]),
    );
  },
  get room() {
    return store.room;
  },
  async put(entries) {
    await store.put(entries);
    await vectors.put(entries);
  },
  async remove(ids) {
    await vectors.remove(ids, () => store.remove(ids));
  },
});
