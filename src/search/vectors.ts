/**
 * The vectors of an index, by which places are found whose words are others: in a file beside it, and in memory, where all of
 * them are looked at for each question. A vector counts only as long as the index has the resource as it was.
 */
import { join } from 'node:path';
import { breaks } from '../core/breaks.ts';
import type { Context } from '../core/context.ts';
import type { Embedder } from './embeddings.ts';
import type { Filters } from './question.ts';
import { conditionsOf, type Place } from './ranking.ts';
import type { Entry, EntryPassage, FileStore } from './store.ts';
import { type Statement, sqlThread } from './thread.ts';

/** Bytes of all vectors; what has no room is found by its words alone. */
const MAX_VECTOR_BYTES = 256 * 1024 * 1024;

/** Resources that a question finds by meaning. */
const MOST = 50;

/** Resources that the index is asked about at a time. */
const LOOKED = 500;

/** The least likeness (cosine) of what is found. */
const LEAST = 0.3;

/** Resources whose vectors are missing because the server gave none. */
const MAX_MISSED = 10_000;

/** Milliseconds that a question waits for its vector. */
const QUESTION_MS = 2_000;

/** Rows that are loaded at a time. */
const ROWS = 1_000;

const FILE = 'vectors.sqlite';
const LOCK = 'vectors.lock';

interface Held {
  readonly kind: string;
  readonly version: string | undefined;
  readonly path: string;
  readonly size: number | undefined;
  readonly changed: string | undefined;
  readonly passages: readonly (Omit<EntryPassage, 'text'> & { readonly vector: Float32Array })[];
}

export interface Vectors {
  /** Takes the vectors of resources that the index has got. Never throws. */
  put(entries: readonly Entry[]): Promise<void>;
  /** The places that are nearest to a text, of the kinds that are given by their keys and numbers. Never throws. */
  nearest(text: string, filters: Filters, kinds: ReadonlyMap<string, number>, ctx: Context): Promise<readonly Place[]>;
  /** Takes resources out, with all below them. @param remove takes them out of the index @throws what that throws */
  remove(ids: readonly number[], remove: () => Promise<void>): Promise<void>;
  /** Forgets what the index has no more. Never throws. */
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
  /** Is told of resources that have no vectors yet, once the server gives some again. */
  readonly missed: (uri: string) => void;
  readonly ctx: Context;
}

export function createVectors({ folder, library, store, embedder, settings, missed, ctx }: VectorOptions): Vectors {
  const thread = sqlThread({ library, file: join(folder, FILE), lock: join(folder, LOCK), pragmas: [] });
  const held = new Map<string, Held>();
  const missing = new Set<string>();
  let bytes = 0;
  let opened: Promise<void> | undefined;

  async function load(): Promise<void> {
    await thread.run([
      ['CREATE TABLE IF NOT EXISTS vector (uri TEXT PRIMARY KEY, settings TEXT, held TEXT) WITHOUT ROWID'],
      ['DELETE FROM vector WHERE settings IS NOT ?', settings],
    ]);
    for (let last = ''; ; ) {
      const [rows = []] = await thread.run([
        [`SELECT uri, held FROM vector WHERE uri > ? ORDER BY uri LIMIT ${ROWS}`, last],
      ]);
      for (const [uri, text] of rows) keep(String(uri), heldIn(String(text)));
      last = String(rows.at(-1)?.[0] ?? '');
      if (rows.length < ROWS) return;
    }
  }

  function keep(uri: string, each: Held | undefined): boolean {
    bytes -= bytesOf(held.get(uri));
    held.delete(uri);
    if (each === undefined || bytes + bytesOf(each) > MAX_VECTOR_BYTES) return false;
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
    if (vectors !== undefined && missing.size > 0) {
      const again = [...missing];
      missing.clear();
      for (const uri of again) missed(uri);
    }
    return vectors;
  }

  async function take(entry: Entry): Promise<Statement> {
    const { uri, kind, version, path, size, changed, passages } = entry;
    const texts = passages.map(({ text, headings }) => [entry.title, entry.name, ...headings, text].join('\n'));
    const vectors = entry.container ? [] : await embedded(texts, ctx.signal);
    if (vectors === undefined && missing.size < MAX_MISSED) missing.add(uri);
    const given = passages.flatMap(({ text: _text, ...place }, at) => {
      const vector = vectors?.[at];
      return vector === undefined ? [] : [{ ...place, vector }];
    });
    const each = { kind, version, path, size, changed, passages: given };
    if (given.length === 0 || !keep(uri, each)) {
      keep(uri, undefined);
      return ['DELETE FROM vector WHERE uri = ?', uri];
    }
    return ['INSERT OR REPLACE INTO vector VALUES (?, ?, ?)', uri, settings, textOf(each)];
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
    put: (entries) =>
      safely(async () => {
        const statements: Statement[] = [];
        for (const entry of entries) statements.push(await take(entry));
        await thread.run(statements, true);
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

function dot(one: Float32Array, other: Float32Array): number {
  if (one.length !== other.length) return -1;
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}

const bytesOf = (held: Held | undefined): number =>
  held?.passages.reduce((sum, { vector }) => sum + vector.byteLength, 0) ?? 0;

const textOf = (held: Held): string =>
  JSON.stringify({
    ...held,
    passages: held.passages.map(({ vector, ...place }) => ({
      ...place,
      vector: Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64'),
    })),
  });

/** As this program has written it. */
function heldIn(text: string): Held {
  const { passages, ...held } = JSON.parse(text) as Omit<Held, 'passages'> & {
    readonly passages: readonly (Omit<EntryPassage, 'text'> & { readonly vector: string })[];
  };
  return {
    ...held,
    passages: passages.map(({ vector, ...place }) => {
      const all = Uint8Array.from(Buffer.from(vector, 'base64'));
      return { ...place, vector: new Float32Array(all.buffer) };
    }),
  };
}
