/**
 * Keeps an index in one SQLite file, which one server has at a time. All of it can be made again, so a file that is damaged, of
 * another version or of other settings is put aside and begun anew.
 */
import { chmod, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { IndexFigures } from '../core/ranked.ts';
import { keepCounts } from './counts.ts';
import { type Entry, type IndexStore, type Known, MAX_KINDS } from './index-store.ts';
import { rank } from './ranking.ts';
import {
  createWords,
  PRAGMAS,
  READING_PRAGMAS,
  SCHEMA_VERSION,
  TABLES,
  type Tokenizing,
  tokenizerOf,
  WEIGHTS,
  wordsTable,
} from './schema.ts';
import { readSums, takeOff } from './sums.ts';
import {
  type Rows,
  type ScoredKind,
  type ScoredWords,
  SqlFault,
  type SqlThread,
  type SqlValue,
  type Statement,
  sqlThread,
} from './thread.ts';
import { apart } from './words.ts';

/** The names of the files of an index in its folder. */
const FILE = 'index.sqlite';
const LOCK = 'index.lock';
const ASIDE = 'index.damaged';

/** The statement that gives the bytes of the file that are in use. */
const SIZE =
  'SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size';

/** The number of threads that answer questions, not more than there are cores. */
const READERS = Math.min(2, availableParallelism());

/** The most milliseconds for a question. */
const QUESTION_MS = 5_000;

export interface StoreOptions extends Tokenizing {
  /** The folder of the file; if it is missing, it is made for this user only. */
  readonly folder: string;
  /** The path of the package that has SQLite. */
  readonly library: string;
  /** The most bytes of the database. */
  readonly maxBytes: number;
  /** The settings that its texts depend on: with other settings the index is begun anew. */
  readonly settings: string;
}

/** An index in a file. */
export interface FileStore extends IndexStore {
  /** Runs statements that read. @throws SqlFault */
  ask(statements: readonly Statement[]): Promise<readonly Rows[]>;
  /** Scores words; `null` if only statements can do that. @throws SqlFault */
  score(words: ScoredWords): Promise<readonly ScoredKind[] | null>;
}

export function createStore(options: StoreOptions): FileStore {
  const { folder, library, maxBytes } = options;
  const file = join(folder, FILE);
  const kinds = new Map<string, number>();
  let writer: SqlThread | undefined;
  let readers: readonly SqlThread[] = [];
  let nextResource = 1;
  let nextChunk = 1;
  let bytes = 0;
  /** The kinds of the index, which are read again after something was written. */
  let keptKinds: ReturnType<IndexStore['kinds']> | undefined;

  async function write(statements: readonly Statement[]): Promise<void> {
    try {
      await openThread(writer).run(statements, true);
    } finally {
      counts.forget();
      keptKinds = undefined;
    }
  }
  const read = (statements: readonly Statement[]): Promise<readonly Rows[]> =>
    openThread(leastBusy(readers)).run(statements, false, QUESTION_MS);
  const score = (words: ScoredWords): Promise<readonly ScoredKind[] | null> =>
    openThread(leastBusy(readers)).score(words, QUESTION_MS);
  const counts = keepCounts(read);
  const askWriter = async (sql: string, ...parameters: SqlValue[]): Promise<Rows> =>
    (await openThread(writer).run([[sql, ...parameters]]))[0] ?? [];

  async function openFile(): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // SQLite gives its other files the mode of this one.
    await (await open(file, 'a', 0o600)).close();
    await chmod(file, 0o600);
    writer = sqlThread({ library, file, lock: join(folder, LOCK), pragmas: PRAGMAS });
    const [check] = await writer.run([['PRAGMA quick_check(1)']]);
    if (check?.[0]?.[0] !== 'ok') throw new SqlFault('damaged', 'The file of the index is damaged');
    await write([...TABLES]);
    const wanted = JSON.stringify([SCHEMA_VERSION, options.stemming, options.diacritics, options.settings]);
    const [[version] = []] = await askWriter("SELECT value FROM meta WHERE key = 'settings'");
    if (version !== undefined && version !== wanted)
      throw new SqlFault('damaged', 'The index was made with other settings');
    await write([["INSERT OR REPLACE INTO meta VALUES ('settings', ?)", wanted]]);
    const [[resource] = []] = await askWriter('SELECT coalesce(max(id), 0) FROM resource');
    const [[chunk] = []] = await askWriter('SELECT coalesce(max(id), 0) FROM chunk');
    nextResource = Number(resource ?? 0) + 1;
    nextChunk = Number(chunk ?? 0) + 1;
    kinds.clear();
    for (const [id, key] of await askWriter('SELECT id, key FROM kind')) kinds.set(String(key), Number(id));
    await measure();
    readers = Array.from({ length: READERS }, () =>
      sqlThread({
        library,
        file,
        pragmas: READING_PRAGMAS,
        scoring: { tokenizer: tokenizerOf(options), weights: WEIGHTS },
      }),
    );
    counts.forget();
    keptKinds = undefined;
  }

  async function measure(): Promise<void> {
    const [[used] = []] = await askWriter(SIZE);
    bytes = Number(used ?? 0);
  }

  async function closeFiles(): Promise<void> {
    // The connection that closes last moves the write-ahead log into the file, which a connection that only reads cannot do.
    await Promise.all(readers.map((reader) => reader.close()));
    await writer?.close();
    readers = [];
    writer = undefined;
  }

  async function discard(): Promise<void> {
    await closeFiles();
    await Promise.all(['-wal', '-shm'].map((suffix) => rm(file + suffix, { force: true })));
    await rename(file, join(folder, ASIDE)).catch(() => {});
  }

  /** Returns the statements that remove the texts of resources. */
  async function removing(ids: readonly number[]): Promise<Statement[]> {
    if (ids.length === 0) return [];
    const list = JSON.stringify(ids);
    const rows = await askWriter(
      'SELECT chunk.id, kind FROM chunk JOIN resource ON resource.id = chunk.resource WHERE resource.id IN (SELECT value FROM json_each(?))',
      list,
    );
    const statements: Statement[] = [];
    for (const kind of new Set(rows.map((row) => Number(row[1])))) {
      const chunks = rows.filter((row) => Number(row[1]) === kind).map(([id]) => id);
      const [sums, lengths = []] = await openThread(writer).run(readSums(kind, JSON.stringify(chunks)));
      statements.push(...takeOff(kind, sums?.[0]?.[0], lengths));
    }
    return [
      ...statements,
      ...rows.map(([id, kind]): Statement => [`DELETE FROM ${wordsTable(Number(kind))} WHERE rowid = ?`, id ?? null]),
      ['DELETE FROM chunk WHERE resource IN (SELECT value FROM json_each(?))', list],
    ];
  }

  /** Returns the number of a kind, and the statements that make its table if it is new. */
  function kindOf(key: string): { readonly id: number | undefined; readonly statements: readonly Statement[] } {
    const before = kinds.get(key);
    if (before !== undefined) return { id: before, statements: [] };
    if (kinds.size >= MAX_KINDS) return { id: undefined, statements: [] };
    const id = kinds.size + 1;
    kinds.set(key, id);
    return { id, statements: [['INSERT INTO kind VALUES (?, ?)', id, key], ...createWords(id, options)] };
  }

  /** Returns the statements that write a resource. */
  function putting(entry: Entry, id: number): Statement[] {
    const kind = kindOf(entry.kind);
    const problem = kind.id === undefined ? 'too many kinds of access' : entry.problem;
    const statements: Statement[] = [...kind.statements];
    statements.push([
      'INSERT OR REPLACE INTO resource VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      ...[
        id,
        entry.uri,
        entry.parent ?? null,
        entry.mount,
        entry.container ? 1 : 0,
        kind.id ?? 0,
        entry.version ?? null,
      ],
      ...[entry.type ?? null, entry.path, entry.changed ?? null, entry.size ?? null, problem ?? null],
    ]);
    if (kind.id === undefined) return statements;
    for (const { headings, page, lines, bytes: place, text } of entry.passages) {
      const rowid = nextChunk++;
      const heading = headings.join(' > ');
      statements.push(
        [
          'INSERT INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
          ...[
            rowid,
            id,
            heading === '' ? null : heading,
            page ?? null,
            lines?.first ?? null,
            lines?.last ?? null,
            place?.offset ?? null,
            place?.length ?? null,
          ],
        ],
        [
          `INSERT INTO ${wordsTable(kind.id)} (rowid, title, name, headings, path, text) VALUES (?, ?, ?, ?, ?, ?)`,
          ...[rowid, apart(entry.title), apart(entry.name), apart(heading), apart(entry.path), apart(text)],
        ],
      );
    }
    return statements;
  }

  const knownOf = ([id, uri, version, container, kind, parent, path]: Rows[number]): Known => ({
    id: Number(id),
    uri: String(uri),
    version: version === null || version === undefined ? undefined : String(version),
    container: container === 1,
    kind: String(kind),
    parent: typeof parent === 'string' ? parent : undefined,
    path: String(path),
  });
  const KNOWN =
    'SELECT resource.id, uri, version, container, key, parent, path FROM resource LEFT JOIN kind ON kind.id = resource.kind WHERE';

  async function readKinds(): ReturnType<IndexStore['kinds']> {
    const [rows = []] = await read([
      [
        `SELECT id, key, (SELECT uri FROM resource WHERE kind = kind_.id LIMIT 1) AS uri FROM kind AS kind_
        WHERE uri IS NOT NULL`,
      ],
    ]);
    return rows.map(([id, key, uri]) => ({ id: Number(id), key: String(key), uri: String(uri) }));
  }

  async function knownBy(thread: SqlThread | undefined, uris: readonly string[]): Promise<ReadonlyMap<string, Known>> {
    const sql = `${KNOWN} uri IN (SELECT value FROM json_each(?))`;
    const [rows = []] = await openThread(thread).run([[sql, JSON.stringify(uris)]]);
    return new Map(rows.map(knownOf).map((known) => [known.uri, known]));
  }

  async function put(entries: readonly Entry[]): Promise<void> {
    const before = await knownBy(
      writer,
      entries.map(({ uri }) => uri),
    );
    const statements = await removing([...before.values()].map(({ id }) => id));
    for (const entry of entries) statements.push(...putting(entry, before.get(entry.uri)?.id ?? nextResource++));
    await write(statements);
    await measure();
  }

  async function remove(ids: readonly number[]): Promise<void> {
    const below = await askWriter(
      `WITH RECURSIVE gone (id, uri) AS (
        SELECT id, uri FROM resource WHERE id IN (SELECT value FROM json_each(?))
        UNION SELECT resource.id, resource.uri FROM resource JOIN gone ON resource.parent = gone.uri)
      SELECT id FROM gone`,
      JSON.stringify(ids),
    );
    const all = below.map(([id]) => Number(id));
    await write([
      ...(await removing(all)),
      ['DELETE FROM resource WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(all)],
    ]);
    await measure();
  }

  /** The latest write. The next one waits for it, since it reads what that one has written. */
  let writing = Promise.resolve();
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = writing.then(work);
    writing = done.catch(() => {});
    return done;
  }

  return {
    async open() {
      try {
        await openFile();
      } catch (error) {
        if (!(error instanceof SqlFault) || error.kind !== 'damaged') {
          await closeFiles();
          throw error;
        }
        await discard();
        await openFile();
      }
    },
    get room() {
      return maxBytes - bytes;
    },
    // A thread that only reads does not wait for a batch that is being written.
    known: (uris) => knownBy(leastBusy(readers), uris),
    async childrenOf(parent, mount) {
      const [rows = []] = await openThread(leastBusy(readers)).run([
        parent === undefined ? [`${KNOWN} parent IS NULL AND mount = ?`, mount] : [`${KNOWN} parent = ?`, parent],
      ]);
      return rows.map(knownOf);
    },
    put: (entries) => inTurn(() => put(entries)),
    remove: (ids) => inTurn(() => remove(ids)),
    async keepMounts(mounts) {
      const rows = await askWriter(
        'SELECT id FROM resource WHERE mount NOT IN (SELECT value FROM json_each(?))',
        JSON.stringify(mounts),
      );
      if (rows.length > 0) await inTurn(() => remove(rows.map(([id]) => Number(id))));
    },
    kinds() {
      keptKinds ??= readKinds().catch((error: unknown) => {
        keptKinds = undefined;
        throw error;
      });
      return keptKinds;
    },
    ask: read,
    score,
    find: (question, ids) => rank({ ask: read, count: counts.count, score }, question, ids),
    figures: async () => figuresOf(await read(FIGURES)),
    async look() {
      if (!(await stat(file).catch(() => undefined))?.isFile()) return undefined;
      const thread = sqlThread({ library, file, pragmas: READING_PRAGMAS });
      try {
        return figuresOf(await thread.run(FIGURES, false, QUESTION_MS));
      } finally {
        await thread.close();
      }
    },
    discard,
    close: closeFiles,
  };
}

const FIGURES: readonly Statement[] = [
  ['SELECT count(*) FROM resource WHERE container = 0'],
  ['SELECT count(*) FROM chunk'],
  [SIZE],
  ['SELECT problem, count(*) FROM resource WHERE problem IS NOT NULL GROUP BY problem'],
];

const figuresOf = ([resources, passages, bytes, problems = []]: readonly Rows[]): IndexFigures => ({
  resources: Number(resources?.[0]?.[0] ?? 0),
  passages: Number(passages?.[0]?.[0] ?? 0),
  bytes: Number(bytes?.[0]?.[0] ?? 0),
  leftOut: Object.fromEntries(problems.map(([problem, count]) => [String(problem), Number(count)])),
});

const leastBusy = (threads: readonly SqlThread[]): SqlThread | undefined =>
  threads.reduce<SqlThread | undefined>(
    (best, thread) => (best === undefined || thread.waiting < best.waiting ? thread : best),
    undefined,
  );

function openThread(thread: SqlThread | undefined): SqlThread {
  if (thread === undefined) throw new SqlFault('gone', 'The index is not open');
  return thread;
}
