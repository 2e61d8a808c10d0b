/**
 * An index of mounts, for ranked search. It keeps the words of every resource in a file or a database, and is kept up to date
 * while the server runs. It is filled with redacted texts, without access rules. These decide for each caller which places a
 * search finds, and each hit is read as that caller.
 */
import { createHash } from 'node:crypto';
import { createContext, SILENT } from '../core/context.ts';
import { invalid, ResourceError } from '../core/errors.ts';
import { globFilter } from '../core/glob/filter.ts';
import type { IndexContext, RankedIndex, RankedMatch, RankedSearch } from '../core/ranked.ts';
import { createEmbedder } from './embeddings.ts';
import { reasonOf } from './faults.ts';
import { fused } from './fusing.ts';
import type { IndexStore } from './index-store.ts';
import { seenKinds } from './kinds.ts';
import { postgresPackage, sqlitePackage } from './library.ts';
import { DEFAULT_INDEX_BYTES, type IndexOptions } from './options.ts';
import { DEFAULT_SCHEMA } from './postgres/schema.ts';
import { postgresStore } from './postgres/store.ts';
import { parseQuestion, questionOfName } from './question.ts';
import { createStore, type FileStore } from './store.ts';
import { termsIn } from './terms-in.ts';
import { SqlFault } from './thread.ts';
import { createUpkeep } from './upkeep.ts';
import { createVectors } from './vectors.ts';

export { DEFAULT_INDEX_BYTES, type IndexOptions } from './options.ts';

const DEFAULT_RESCAN_SECONDS = 60;

/** Vectors of another version are made anew. */
const VECTORS_VERSION = '2';

/** @throws ResourceError `invalid` if a package is missing, or for neither folder nor URL, or for embeddings with a URL */
export function createIndex(options: IndexOptions): RankedIndex {
  const { url, folder } = options;
  if (url === undefined && folder === undefined) throw invalid('An index needs a folder or the URL of a database');
  if (url !== undefined && options.embeddings !== undefined)
    throw invalid(
      'Vectors are kept in the folder of an index, and an index in a database has none; leave out embeddings or the URL',
    );
  const library = url === undefined ? sqlitePackage() : postgresPackage();
  return {
    begin: (context) => beginIndex(options, library, context),
    async look() {
      try {
        return await storeOf(options, library, '', () => {}).look();
      } catch (error) {
        throw new ResourceError('unavailable', `The index cannot be looked at: ${reasonOf(error)}`, { cause: error });
      }
    },
  };
}

function storeOf(
  options: IndexOptions,
  library: string,
  settings: string,
  lost: (fault: SqlFault) => void,
): IndexStore | FileStore {
  const { log = SILENT, folder = '', url, schema = DEFAULT_SCHEMA, maxBytes = DEFAULT_INDEX_BYTES } = options;
  const { stemming = 'english', diacritics = 'fold' } = options;
  const common = { maxBytes, stemming, diacritics, settings };
  return url === undefined
    ? createStore({ ...common, folder, library })
    : postgresStore({ ...common, url, schema, log, lost });
}

function beginIndex(options: IndexOptions, library: string, context: IndexContext): RankedSearch {
  const { log = SILENT, everything = true, stemming = 'english', rescanSeconds = DEFAULT_RESCAN_SECONDS } = options;
  const ended = new AbortController();
  const { signal } = ended;
  const ctx = createContext({ principal: { id: 'vitrine:index' }, signal, log });
  const { embeddings } = options;
  const { settings } = context;
  const store = storeOf(options, library, settings, (fault) => upkeep.fail(fault));
  const vectors =
    embeddings !== undefined && 'ask' in store
      ? createVectors({
          ...{ folder: options.folder ?? '', library, store, ctx, missed: () => upkeep.lookAgain() },
          settings: digest([VECTORS_VERSION, settings, embeddings.url, embeddings.model]),
          embedder: createEmbedder(embeddings, log),
        })
      : undefined;
  const upkeep = createUpkeep({ context, store, vectors, everything, rescanSeconds, ctx });

  return {
    async *find(query, caller) {
      if (upkeep.state === 'opening') await upkeep.opened;
      const { state, reason } = upkeep;
      if (state === 'down' || state === 'opening') {
        throw new ResourceError(
          'unavailable',
          `The index cannot be used now${reason === undefined ? '' : `: ${reason}`}`,
        );
      }
      const parsed = query.byName ? questionOfName(query.text) : parseQuestion(query.text, stemming === 'english');
      const question = {
        ...parsed,
        filters: { ...parsed.filters, ...(query.uri !== undefined && { folder: query.uri }) },
      };
      const matchesGlob = globFilter(query.glob);
      const fits = termsIn(question);
      const { tenure } = upkeep;
      try {
        const { ids, unsure, keys } = await seenKinds(store, context, caller);
        // A place found by meaning need not have a required term, such as a phrase.
        const byMeaning = vectors !== undefined && !question.terms.some(({ required }) => required);
        const near = byMeaning ? await vectors.nearest(query.text, question.filters, keys, caller) : [];
        const kinds = query.byName ? [...keys.values()] : ids;
        for await (const { kind, path, uri, ...place } of fused(store.find(question, kinds), near)) {
          caller.signal.throwIfAborted();
          if (!matchesGlob(path)) continue;
          const match: RankedMatch = { uri, path, passage: { ...place, unsure: unsure.has(kind), fits } };
          yield match;
        }
      } catch (error) {
        if (!(error instanceof SqlFault)) throw error;
        upkeep.fail(error, tenure);
        throw new ResourceError('unavailable', 'The index cannot be used now; try again', { cause: error });
      }
    },
    state() {
      const { state, reason, figures } = upkeep;
      return { state, ...(state === 'down' && { reason }), ...figures };
    },
    settled: () => upkeep.settled,
    changed: upkeep.lookAgain,
    async close() {
      ended.abort(new Error('The index is closed'));
      await upkeep.close();
      await vectors?.close();
      await store.close();
    },
  };
}

/** Returns a text that identifies settings without revealing them. */
const digest = (settings: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(settings)).digest('base64url');
