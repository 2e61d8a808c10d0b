/**
 * An index in PostgreSQL, which several servers share. The one with the lease fills the index and keeps it up to date. If it
 * ends, another one takes over. All of them answer questions.
 */
import type { Log } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { IndexFigures } from '../../core/ranked.ts';
import { type Entry, type IndexStore, type Known, MAX_KINDS } from '../index-store.ts';
import type { Tokenizing } from '../schema.ts';
import { type Rows, SqlFault } from '../thread.ts';
import { type Ask, type Connections, openConnections } from './connections.ts';
import { faultOf } from './faults.ts';
import { rank } from './ranking.ts';
import { createKind, createSchema, dropSchema, quoted, SCHEMA_VERSION } from './schema.ts';
import { indexed } from './words.ts';

export interface PostgresStoreOptions extends Tokenizing {
  readonly url: string;
  /** The schema, which only this index uses. */
  readonly schema: string;
  /** The most bytes of its tables. */
  readonly maxBytes: number;
  /** The settings that its texts depend on: with other settings the index is begun anew. */
  readonly settings: string;
  readonly log: Log;
  /** Is called when this server no longer keeps the index up to date. */
  readonly lost: (fault: SqlFault) => void;
}

const OTHER_SETTINGS = 'another server keeps it with other settings';

export function postgresStore(options: PostgresStoreOptions): IndexStore {
  const { schema, diacritics, maxBytes } = options;
  const s = quoted(schema);
  const settings = JSON.stringify([SCHEMA_VERSION, options.stemming, diacritics, options.settings]);
  const kinds = new Map<string, number>();
  let connections: Connections | undefined;
  let bytes = 0;

  function opened(): Connections {
    if (connections === undefined) throw new SqlFault('gone', 'The index is not open');
    return connections;
  }
  const ask: Ask = (sql, ...parameters) => opened().ask(sql, ...parameters);
  const write = <T>(work: (ask: Ask) => Promise<T>): Promise<T> => opened().write(work);
  /** Runs a statement on the connection with the lease. */
  const askLeader: Ask = (sql, ...parameters) => write((run) => run(sql, ...parameters));

  async function isMade(run: Ask): Promise<boolean> {
    const [[made] = []] = await run('SELECT to_regclass($1) IS NOT NULL', `${s}.meta`);
    return made === 1;
  }

  async function make(run: Ask): Promise<void> {
    const [[others] = []] = await run('SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace($1)::oid', s);
    if (Number(others ?? 0) > 0)
      throw new SqlFault('other', 'The schema is not of an index', {
        reason: 'its schema has tables of something else',
      });
    // A user who may not make schemas may still fill one.
    const [[exists] = []] = await run('SELECT to_regnamespace($1) IS NOT NULL', s);
    for (const statement of [...(exists === 1 ? [] : [`CREATE SCHEMA ${s}`]), ...createSchema(schema, options)])
      await run(statement);
    await run(`INSERT INTO ${s}.meta VALUES ('settings', $1)`, settings);
  }

  const drop = async (run: Ask): Promise<void> => {
    for (const statement of dropSchema(schema)) await run(statement);
  };

  /** Checks the settings of the index. @throws SqlFault `locked` if it was made with others */
  async function check(run: Ask): Promise<void> {
    const [[found] = []] = await run(`SELECT value FROM ${s}.meta WHERE key = 'settings'`);
    if (found !== settings) throw new SqlFault('locked', 'The index has other settings', { reason: OTHER_SETTINGS });
  }

  async function close(): Promise<void> {
    const ended = connections;
    connections = undefined;
    await ended?.close();
  }

  async function measure(run: Ask): Promise<void> {
    const [[size] = []] = await run(
      "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = to_regnamespace($1)::oid AND relkind = 'r'",
      s,
    );
    bytes = Number(size ?? 0);
  }

  /** @param made gets a kind that is new, which exists only once the transaction is committed */
  async function kindOf(run: Ask, key: string, made: Map<string, number>): Promise<number | undefined> {
    const before = kinds.get(key) ?? made.get(key);
    if (before !== undefined) return before;
    const id = kinds.size + made.size + 1;
    if (id > MAX_KINDS) return undefined;
    await run(`INSERT INTO ${s}.kind (id, key) VALUES ($1, $2)`, id, key);
    await run(createKind(schema, id));
    made.set(key, id);
    return id;
  }

  /** Removes the passages of resources, and subtracts them from the sums. */
  const removeChunks = (run: Ask, ids: readonly number[]): Promise<Rows> =>
    run(
      `WITH gone AS (DELETE FROM ${s}.chunk WHERE resource = ANY($1::bigint[]) RETURNING kind, words),
        sums AS (SELECT kind, count(*) AS passages, sum(words) AS words FROM gone GROUP BY kind)
      UPDATE ${s}.kind SET passages = kind.passages - sums.passages, words = kind.words - sums.words
      FROM sums WHERE kind.id = sums.kind`,
      ids,
    );

  async function put(entries: readonly Entry[]): Promise<void> {
    const made = new Map<string, number>();
    await write(async (run) => {
      const numbers = new Map<string, number | undefined>();
      for (const { kind } of entries) numbers.set(kind, await kindOf(run, kind, made));
      const rows = entries.map((entry) => {
        const kind = numbers.get(entry.kind);
        return { ...entry, kind, problem: kind === undefined ? 'too many kinds of access' : entry.problem };
      });
      const column = <K extends keyof (typeof rows)[number]>(key: K): readonly unknown[] =>
        rows.map((row) => row[key] ?? null);
      const ids = await run(
        `INSERT INTO ${s}.resource (uri, parent, mount, container, kind, version, type, path, changed, size, problem)
        SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::int[], $6::text[], $7::text[], $8::text[],
          $9::text[], $10::bigint[], $11::text[])
        ON CONFLICT (md5(uri)) DO UPDATE SET uri = excluded.uri, parent = excluded.parent, mount = excluded.mount,
          container = excluded.container, kind = excluded.kind, version = excluded.version, type = excluded.type, path = excluded.path,
          changed = excluded.changed, size = excluded.size, problem = excluded.problem
        RETURNING id, uri`,
        ...[column('uri'), column('parent'), column('mount'), column('container'), rows.map(({ kind = 0 }) => kind)],
        ...[
          column('version'),
          column('type'),
          rows.map(({ path }) => storable(path)),
          column('changed'),
          column('size'),
          column('problem'),
        ],
      );
      await removeChunks(
        run,
        ids.map(([id]) => Number(id)),
      );
      const idOf = new Map(ids.map(([id, uri]) => [String(uri), Number(id)]));
      const chunks = rows.flatMap(({ uri, kind, title, name, path, passages }) => {
        const resource = idOf.get(uri);
        if (kind === undefined || resource === undefined) return [];
        const [titles, names, paths] = [title, name, path].map((text) => indexed(text, diacritics));
        return passages.map(({ headings, page, lines, bytes: place, text }) => {
          const heading = headings.join(' > ');
          const fields = [
            titles ?? [],
            [...(names ?? []), ...indexed(heading, diacritics)],
            paths ?? [],
            indexed(text, diacritics),
          ];
          return [
            ...[
              resource,
              kind,
              heading === '' ? null : storable(heading),
              page ?? null,
              lines?.first ?? null,
              lines?.last ?? null,
            ],
            ...[place?.offset ?? null, place?.length ?? null, fields.reduce((sum, words) => sum + words.length, 0)],
            ...fields.map((words) => words.join(' ')),
          ];
        });
      });
      const words = `'${s.replaceAll("'", "''")}.words'`;
      await run(
        `WITH made AS (
          INSERT INTO ${s}.chunk (resource, kind, heading, page, first, last, "offset", length, words, vector)
          SELECT resource, kind, heading, page, first, last, place, length, words, setweight(to_tsvector(${words}, title), 'A') ||
            setweight(to_tsvector(${words}, names), 'B') || setweight(to_tsvector(${words}, path), 'C') || to_tsvector(${words}, text)
          FROM unnest($1::bigint[], $2::int[], $3::text[], $4::int[], $5::int[], $6::int[], $7::bigint[], $8::int[], $9::int[],
            $10::text[], $11::text[], $12::text[], $13::text[])
            AS rows (resource, kind, heading, page, first, last, place, length, words, title, names, path, text)
          RETURNING kind, words),
        sums AS (SELECT kind, count(*) AS passages, sum(words) AS words FROM made GROUP BY kind)
        UPDATE ${s}.kind SET passages = kind.passages + sums.passages, words = kind.words + sums.words
        FROM sums WHERE kind.id = sums.kind`,
        ...Array.from({ length: 13 }, (_, at) => chunks.map((chunk) => chunk[at] ?? null)),
      );
      await measure(run);
    });
    for (const [key, id] of made) kinds.set(key, id);
  }

  async function remove(run: Ask, ids: readonly number[]): Promise<void> {
    const below = await run(
      `WITH RECURSIVE gone AS (
        SELECT id, uri FROM ${s}.resource WHERE id = ANY($1::bigint[])
        UNION SELECT resource.id, resource.uri FROM ${s}.resource JOIN gone
          ON md5(resource.parent) = md5(gone.uri) AND resource.parent = gone.uri)
      SELECT id FROM gone`,
      ids,
    );
    const all = below.map(([id]) => Number(id));
    await removeChunks(run, all);
    await run(`DELETE FROM ${s}.resource WHERE id = ANY($1::bigint[])`, all);
    await measure(run);
  }

  const KNOWN = `SELECT resource.id, uri, version, container, key, parent, path FROM ${s}.resource
    LEFT JOIN ${s}.kind ON kind.id = resource.kind WHERE`;

  return {
    async open() {
      try {
        await close();
        connections = await openConnections(options);
        if (!(await isMade(ask)))
          await opened().alone(async (run) => {
            if (!(await isMade(run))) await make(run);
          });
      } catch (error) {
        await close();
        throw faultOf(error);
      }
    },
    sharing: {
      async lead() {
        if (!(await opened().lead())) {
          await check(ask);
          return false;
        }
        await check(ask).catch(async (error: unknown) => {
          if (!(error instanceof SqlFault) || error.kind !== 'locked') throw error;
          await write(async (run) => {
            await drop(run);
            await make(run);
          });
        });
        kinds.clear();
        for (const [id, key] of await askLeader(`SELECT id, key FROM ${s}.kind`)) kinds.set(String(key), Number(id));
        await write(measure);
        return true;
      },
      whole: async () => (await ask(`SELECT FROM ${s}.meta WHERE key = 'whole'`)).length > 0,
      async setWhole() {
        await askLeader(`INSERT INTO ${s}.meta VALUES ('whole', '') ON CONFLICT DO NOTHING`);
      },
    },
    get room() {
      return maxBytes - bytes;
    },
    async known(uris) {
      const rows = await askLeader(`${KNOWN} md5(uri) IN (SELECT md5(each) FROM unnest($1::text[]) AS each)`, uris);
      return new Map(rows.map(knownOf).map((known) => [known.uri, known]));
    },
    async childrenOf(parent, mount) {
      const rows =
        parent === undefined
          ? await askLeader(`${KNOWN} parent IS NULL AND mount = $1`, mount)
          : await askLeader(`${KNOWN} md5(parent) = md5($1) AND parent = $1`, parent);
      return rows.map(knownOf);
    },
    put,
    remove: (ids) => write((run) => remove(run, ids)),
    keepMounts: (mounts) =>
      write(async (run) => {
        const rows = await run(`SELECT id FROM ${s}.resource WHERE mount <> ALL($1::text[])`, mounts);
        if (rows.length > 0)
          await remove(
            run,
            rows.map(([id]) => Number(id)),
          );
      }),
    async kinds() {
      // An index that was made with other settings gives no answers: it may have texts that this server redacts.
      const rows = await ask(
        `SELECT id, key, (SELECT uri FROM ${s}.resource WHERE kind = kind_.id LIMIT 1), (SELECT value FROM ${s}.meta WHERE key = 'settings') = $1
        FROM ${s}.kind AS kind_`,
        settings,
      );
      if (rows.some(([, , , same]) => same !== 1))
        throw new SqlFault('locked', 'Other settings', { reason: OTHER_SETTINGS });
      return rows
        .filter(([, , uri]) => uri !== null)
        .map(([id, key, uri]) => ({ id: Number(id), key: String(key), uri: String(uri) }));
    },
    find: (question, ids) => rank({ ask, schema, diacritics }, question, ids),
    figures: () => figuresOf(ask),
    async look() {
      const found = await openConnections(options);
      try {
        return (await isMade(found.ask)) ? await figuresOf(found.ask) : undefined;
      } finally {
        await found.close();
      }
    },
    async discard() {
      await write(async (run) => {
        await drop(run);
        await make(run);
      }).catch((error: unknown) => {
        if (error instanceof ResourceError) throw error;
      });
      await close();
    },
    close,
  };

  async function figuresOf(run: Ask): Promise<IndexFigures> {
    const [[resources] = []] = await run(`SELECT count(*) FROM ${s}.resource WHERE NOT container`);
    const [[passages] = []] = await run(`SELECT sum(passages) FROM ${s}.kind`);
    const problems = await run(
      `SELECT problem, count(*) FROM ${s}.resource WHERE problem IS NOT NULL GROUP BY problem`,
    );
    await measure(run);
    return {
      resources: Number(resources ?? 0),
      passages: Number(passages ?? 0),
      bytes,
      leftOut: Object.fromEntries(problems.map(([problem, count]) => [String(problem), Number(count)])),
    };
  }
}

/** Replaces U+0000, the only character that PostgreSQL cannot store. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd');

const knownOf = ([id, uri, version, container, kind, parent, path]: Rows[number]): Known => ({
  id: Number(id),
  uri: String(uri),
  version: typeof version === 'string' ? version : undefined,
  container: container === 1,
  kind: String(kind),
  parent: typeof parent === 'string' ? parent : undefined,
  path: String(path),
});
