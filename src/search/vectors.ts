/**
 * The vectors of an index, by which places are found whose words are others: in a file beside it, and in memory, where all of
 * them are looked at for each question. A vector counts only as long as the index has the resource as it was.
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

/** Bytes of all vectors; what has no room is found by its words alone. */
const MAX_VECTOR_BYTES = 256 * 1024 * 1024;

/** Resources that a question finds by meaning. */
const MOST = 50;

/** Resources that the index is asked about at a time. */
const LOOKED = 500;

/** The least likeness (cosine) of what is found. */
const LEAST = 0.3;

/** Texts after which vectors are written: what has been written is not asked for again, whatever happens. */
const WRITTEN = 32;

/** Milliseconds that a question waits for its vector. */
const QUESTION_MS = 2_000;

/** Rows that are loaded at a time. */
const ROWS = 1_000;

const FILE = 'vectors.sqlite';
const LOCK = 'vectors.lock';

export interface Vectors {
  /** Those of some resources of the index that have no vectors yet, and can get them now. Never throws. */
  lacking(known: Iterable<Known>): Promise<ReadonlySet<string>>;
  /** Takes the vectors of resources that the index has got. Only texts that have none go to the server. Never throws. */
  put(entries: readonly Entry[]): Promise<void>;
  /** The places that are nearest to a text, of the kinds that are given by their keys and numbers. Never throws. */
  nearest(text: string, filters: Filters, kinds: ReadonlyMap<string, number>, ctx: Context): Promise<readonly Place[]>;
  /** Takes resources out, with all below them. @param remove takes them out of the index @throws what that throws */
  remove(ids: readonly number[], remove: () => Promise<void>): Promise<void>;
  /** Forgets what the index has no more, once it has been made: one that is made anew gets them back. Never throws. */
  prune(): Promise<void>;
  close(): Promise<void>;
}

export interface VectorOptions {
  readonly folder: string;
  readonly library: string;
  readonly store: Pick<FileStore, 'ask'>;
  readonly embedder: Embedder;
  /** With other settings the vectors are begun anew. */
  readonly settings: string;
  /** Is told when resources have no vectors, and the server gives some again. */
  readonly missed: () => void;
  readonly ctx: Context;
}

export function createVectors({ folder, library, store, embedder, settings, missed, ctx }: VectorOptions): Vectors {
  const thread = sqlThread({ library, file: join(folder, FILE), lock: join(folder, LOCK), pragmas: [] });
  const held = new Map<string, Held>();
  let bytes = 0;
  /** Bytes of the smallest resource for which there was no room. */
  let refused: number | undefined;
  /** Numbers of each vector. */
  let dimension: number | undefined;
  /** Whether the server gave none for something that the index has. */
  let missing = false;
  let opened: Promise<void> | undefined;

  async function load(): Promise<void> {
    // SQLite gives its other files the mode of this one.
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
        [`SELECT uri, held FROM vector WHERE uri > ? ORDER BY uri LIMIT ${ROWS}`, last],
      ]);
      for (const [uri, text] of rows) {
        const each = heldIn(String(text));
        dimension ??= dimensionOf(each);
        if (dimensionOf(each) === dimension) keep(String(uri), each);
      }
      last = String(rows.at(-1)?.[0] ?? '');
      if (rows.length < ROWS) return;
    }
  }

  function keep(uri: string, each: Held | undefined): boolean {
    bytes -= bytesOf(held.get(uri));
    held.delete(uri);
    if (each === undefined) return false;
    if (bytes + bytesOf(each) > MAX_VECTOR_BYTES) {
      refused = Math.min(refused ?? bytesOf(each), bytesOf(each));
      return false;
    }
    held.set(uri, each);
    bytes += bytesOf(each);
    return true;
  }

  async function embedded(
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

  /** Takes the vectors of some resources, in one transaction. */
  async function take(entries: readonly Entry[]): Promise<void> {
    const each = entries.map((entry) => {
      const before = new Map(held.get(entry.uri)?.passages.map(({ digest, vector }) => [digest, vector]));
      const passages = (entry.container ? [] : entry.passages).map((passage) => {
        const text = meantText(entry, passage);
        return { passage, text, digest: digestOf(text) };
      });
      return { entry, before, passages };
    });
    const wanted = new Map(
      each.flatMap(({ before, passages }) =>
        passages.flatMap(({ text, digest }) => (before.has(digest) ? [] : [[digest, text] as const])),
      ),
    );
    const vectors = wanted.size === 0 ? [] : await embedded([...wanted.values()], ctx.signal);
    if (vectors === undefined) missing = true;
    const given = new Map([...wanted.keys()].map((digest, at) => [digest, vectors?.[at]]));
    const statements: Statement[] = [];
    for (const { entry, before, passages } of each) {
      const { uri, kind, version, path, size, changed } = entry;
      const all = passages.flatMap(({ passage: { text: _text, ...place }, digest }) => {
        const vector = given.get(digest) ?? before.get(digest);
        return vector === undefined || vector.length !== dimension ? [] : [{ ...place, digest, vector }];
      });
      // Those that it has are good for the next time.
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

  /** @throws the reason of a signal */
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

  /** Those of some resources that the index has, and that pass the filters. */
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

  /** The URIs of resources and of all below them. */
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
        for (let first = 0; first < all.length; first += LOOKED) {
          const some = all.slice(first, first + LOOKED);
          const now = await inIndex(some, {});
          await forget(some.filter((uri) => !now.has(uri)));
        }
      }, undefined),
    lacking: (known) =>
      safely(async () => {
        const full = refused !== undefined && bytes + refused > MAX_VECTOR_BYTES;
        const none = embedder.resting || full;
        const uris = [...known].flatMap(({ uri, container, version, kind }) => {
          const has = held.get(uri);
          return none || container || version === undefined || (has?.version === version && has.kind === kind)
            ? []
            : [uri];
        });
        return new Set(uris);
      }, new Set<string>()),
    put: (entries) =>
      safely(async () => {
        let some: Entry[] = [];
        let texts = 0;
        for (const entry of entries) {
          some.push(entry);
          texts += entry.passages.length;
          if (texts < WRITTEN) continue;
          await take(some);
          some = [];
          texts = 0;
        }
        await take(some);
      }, undefined),
    nearest: (text, filters, kinds, asking) =>
      safely(async () => {
        if (held.size === 0) return [];
        const [wanted] = (await embedded([text], asking.signal, QUESTION_MS)) ?? [];
        if (wanted === undefined) return [];
        const found: { readonly uri: string; readonly near: number; readonly at: number; readonly of: Held }[] = [];
        const taken = breaks();
        for (const [uri, each] of held) {
          if (!kinds.has(each.kind)) continue;
          const likenesses = each.passages.map(({ vector }) => dot(vector, wanted));
          const near = Math.max(...likenesses);
          if (near >= LEAST) found.push({ uri, near, at: likenesses.indexOf(near), of: each });
          const turn = taken();
          if (turn !== undefined) await turn;
        }
        found.sort((a, b) => b.near - a.near || (a.uri < b.uri ? -1 : 1));
        const places: Place[] = [];
        for (let first = 0; first < found.length && places.length < MOST; first += LOOKED) {
          const some = found.slice(first, first + LOOKED);
          const now = await inIndex(
            some.map(({ uri }) => uri),
            filters,
          );
          for (const { uri, at, of } of some) {
            const is = now.get(uri);
            const passage = of.passages[at];
            if (passage === undefined || is === undefined) continue;
            if (is.version !== (of.version ?? null) || is.kind !== kinds.get(of.kind)) continue;
            const { headings, page, lines, bytes: place } = passage;
            const heading = headings.length === 0 ? undefined : headings.join(' > ');
            const { path, size, changed } = of;
            places.push({ uri, path, kind: is.kind, heading, page, lines, bytes: place, size, changed });
          }
        }
        return places.slice(0, MOST);
      }, []),
    async close() {
      await opened?.catch(() => {});
      await thread.close();
    },
  };
}

/**
 * The store, whose resources get their vectors when they are put in, and lose them when they are taken out. One that has none,
 * because the server was away or Vitrine was killed in between, is as one of which nobody can tell whether it has changed.
 */
export const withVectors = (store: IndexStore, vectors: Vectors): IndexStore => ({
  ...store,
  async known(uris) {
    const known = await store.known(uris);
    const lacking = await vectors.lacking(known.values());
    if (lacking.size === 0) return known;
    return new Map([...known].map(([uri, each]) => [uri, lacking.has(uri) ? { ...each, version: undefined } : each]));
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
