/**
 * Watches changes: when the database reports one, checks everything that is watched. A watcher of a row is notified
 * only of that row, a watcher of a table of every possible change in it.
 */
import { createHash } from 'node:crypto';
import { chunksOf, closeBodies } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ChangeEvent } from '../../core/provider.ts';
import type { ShownCatalogue } from './catalogues.ts';
import type { OpenDatabase } from './database.ts';
import { displayName } from './descriptions.ts';
import type { TableName } from './dialect.ts';
import { isKeyed, type Place } from './place.ts';
import type { ReadPlace } from './read.ts';

/** The most keys of each table, and the most tables with keys, that are checked for changes of the default list. */
const LISTED_ROWS = 1_000;
const LISTED_TABLES = 100;

/** Default seconds between checks of a configured query's result. */
const POLL_SECONDS = 2;

export interface Watching {
  add(uri: string | undefined, onChange: (event: ChangeEvent) => void): Promise<AsyncDisposable>;
  /** Takes note that another replica has seen a change, perhaps of the tables themselves. */
  heard(): void;
  close(): Promise<void>;
}

interface Watcher {
  readonly uri: string | undefined;
  readonly onChange: (event: ChangeEvent) => void;
  /** The mark of the content at the last check; undefined: every change is reported. */
  seen: string | undefined;
}

export function createWatching(database: OpenDatabase, read: ReadPlace): Watching {
  const { connection, catalogues, config, places, reader, limitsOf } = database;
  const watchers = new Set<Watcher>();
  const stop = new AbortController();
  const ctx = createContext({ signal: stop.signal });
  let source: Promise<AsyncDisposable> | undefined;
  let dirty: { tables: readonly TableName[] | undefined } | undefined;
  let looking: Promise<void> | undefined;

  /** Forgets the tables, which may have changed, too. A database that gives its catalogue a version is asked for it anyway. */
  function forgetTables(): void {
    if (connection.version === undefined) catalogues.forget();
  }

  function tell(tables: readonly TableName[] | undefined): void {
    if (tables === undefined) forgetTables();
    const before = dirty?.tables;
    dirty = {
      tables:
        tables === undefined || (dirty !== undefined && before === undefined)
          ? undefined
          : [...(before ?? []), ...tables],
    };
    start();
  }

  function start(): void {
    looking ??= lookAgain().finally(() => {
      looking = undefined;
      // A change may have been reported after the last check and before this line.
      if (dirty !== undefined && !stop.signal.aborted) start();
    });
  }

  /** Runs one check at a time, however many changes are reported. */
  async function lookAgain(): Promise<void> {
    while (dirty !== undefined && !stop.signal.aborted) {
      const { tables } = dirty;
      dirty = undefined;
      for (const watcher of [...watchers]) {
        if (stop.signal.aborted || !watchers.has(watcher)) continue;
        const seen = await look(watcher.uri, tables);
        if (!watchers.has(watcher) || (seen !== undefined && seen === watcher.seen)) continue;
        if (seen === UNTOUCHED) continue;
        watcher.seen = seen;
        watcher.onChange(watcher.uri === undefined ? { kind: 'list-changed' } : { kind: 'updated', uri: watcher.uri });
      }
    }
  }

  /** Returns a mark that is equal for equal content; `UNTOUCHED` for an unchanged table; undefined if unknown. */
  async function look(uri: string | undefined, tables: readonly TableName[] | undefined): Promise<string | undefined> {
    try {
      const known = await catalogues.get(ctx);
      if (uri === undefined) return await listedSet(known);
      const place = places.parse(uri, known);
      const table = 'table' in place ? place.table : undefined;
      if (table !== undefined && tables?.every(({ schema, name }) => schema !== table.schema || name !== table.name))
        return UNTOUCHED;
      return await lookAt(place, uri, known);
    } catch (error) {
      // That a row is missing is a state to compare with. Any other failure may be a change.
      return error instanceof ResourceError && error.code === 'not-found' ? 'nothing' : undefined;
    }
  }

  async function lookAt(place: Place, uri: string, known: ShownCatalogue): Promise<string | undefined> {
    switch (place.kind) {
      case 'table':
        return undefined;
      case 'database':
        return hashOf(...known.tables.map(displayName));
      case 'schema':
        return hashOf(...known.within(place.schema).map(({ name }) => name));
      case 'queries':
        return 'configured';
      default: {
        const bodies = await read(
          place,
          uri,
          known,
          { maxBytes: config.maxBytes, maxChildren: 0, accept: ['*/*'] },
          ctx,
        );
        const hash = createHash('sha256');
        for (const { content } of bodies) for await (const chunk of chunksOf(content)) hash.update(chunk);
        await closeBodies(bodies);
        return hash.digest('base64');
      }
    }
  }

  async function listedSet(known: ShownCatalogue): Promise<string> {
    const parts = known.tables.map(displayName);
    for (const table of config.listRows ? known.tables.filter(isKeyed).slice(0, LISTED_TABLES) : []) {
      const { rows } = await reader.page(table, undefined, LISTED_ROWS, { columns: [] }, ctx);
      parts.push(...rows.map(({ segment }) => segment ?? ''), '');
    }
    return hashOf(...parts);
  }

  async function open(): Promise<AsyncDisposable> {
    const own = await connection.watch?.(tell);
    const polled =
      config.watch === false || config.watch?.query === undefined
        ? undefined
        : await poll(config.watch.query, config.watch.pollSeconds);
    return {
      async [Symbol.asyncDispose]() {
        await polled?.[Symbol.asyncDispose]();
        await own?.[Symbol.asyncDispose]();
      },
    };
  }

  /** Checks regularly whether a configured query's result is the same. */
  async function poll(sql: string, seconds = POLL_SECONDS): Promise<AsyncDisposable> {
    const ask = async (): Promise<string> => {
      const { rows } = await connection.run(
        { sql, parameters: [] },
        limitsOf(stop.signal, { maxRows: config.maxRows }),
      );
      return hashOf(JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)));
    };
    let last = await ask().catch(() => undefined);
    let asking = false;
    const timer = setInterval(async () => {
      if (asking) return;
      asking = true;
      try {
        const now = await ask();
        if (now !== last) tell(undefined);
        last = now;
      } catch {
        // The next check tries again.
      } finally {
        asking = false;
      }
    }, seconds * 1_000).unref();
    return { [Symbol.asyncDispose]: async () => clearInterval(timer) };
  }

  async function remove(watcher: Watcher): Promise<void> {
    if (!watchers.delete(watcher) || watchers.size > 0) return;
    const ending = source;
    source = undefined;
    const opened = await ending?.catch(() => undefined);
    await opened?.[Symbol.asyncDispose]();
  }

  return {
    async add(uri, onChange) {
      const watcher: Watcher = { uri, onChange, seen: undefined };
      watchers.add(watcher);
      source ??= open();
      try {
        await source;
        watcher.seen = await look(uri, undefined);
      } catch (error) {
        await remove(watcher);
        throw error;
      }
      return { [Symbol.asyncDispose]: () => remove(watcher) };
    },
    heard: forgetTables,
    async close() {
      stop.abort(new ResourceError('unavailable', 'The database is closed'));
      await Promise.all([...watchers].map(remove));
      await looking?.catch(() => undefined);
    },
  };
}

/** Means that no table of the watched place was changed. */
const UNTOUCHED = '';

function hashOf(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('base64');
}
