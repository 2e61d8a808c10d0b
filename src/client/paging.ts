/** Reads lists page by page, on demand and within limits, and stops when a cursor repeats. */
import { type CursorStop, type PagedList, pagesIn } from '../connection/paging.ts';
import { MISSING_META_KEY, TRUNCATED_META_KEY } from '../protocol/meta.ts';
import type { ResourceTemplate } from '../protocol/resources.ts';
import type { Asking, CallOptions } from './asking.ts';
import { invalidAnswer, isUnsupported } from './errors.ts';
import type { Data, Scoping } from './link.ts';
import { identityOf, type ListedResource, resourceIn } from './shapes.ts';

export type ListVia =
  /** The list without a URI. */
  | 'default-list'
  /** `scoped-list`: `resources/list` with a `uri` (2093-4). `directory-read`: `resources/directory/read`. */
  | Scoping;

/** Why a list ended. */
export type ListStop = CursorStop | 'max-pages' | 'max-resources';

/** The progress of a list. */
export interface ListReport {
  /** How it was read; undefined before the first page. */
  readonly via: ListVia | undefined;
  /** Undefined while the list goes on, and if the reader stopped early. */
  readonly stopped: ListStop | undefined;
  readonly pages: number;
  readonly resources: number;
  /** Pages without new entries that were not the last. */
  readonly fruitless: number;
  /** Invalid entries. */
  readonly dropped: number;
  /** The server's own limit that ended the list (`vitrine/truncatedBy`). */
  readonly truncatedBy: string | undefined;
  /** The parts that the server reports as missing (`vitrine/missing`). */
  readonly missing: readonly unknown[];
}

export type OpenReport = { -readonly [Field in keyof ListReport]: ListReport[Field] };

export const newReport = (): OpenReport => ({
  via: undefined,
  stopped: undefined,
  pages: 0,
  resources: 0,
  fruitless: 0,
  dropped: 0,
  truncatedBy: undefined,
  missing: [],
});

export interface ListPage {
  readonly resources: readonly ListedResource[];
  /** The unchanged result, with every field. */
  readonly result: Data;
}

export interface ListOptions extends CallOptions {
  /** The most pages to request. Default 10,000. */
  readonly maxPages?: number | undefined;
  /** The most resources to yield. Default 100,000. */
  readonly maxResources?: number | undefined;
}

export const DEFAULT_MAX_PAGES = 10_000;
export const DEFAULT_MAX_LISTED = 100_000;

/** A list of a method: of all entries, or of those below a resource. */
interface Question {
  readonly method: string;
  readonly uri: string | undefined;
}

/** Yields the entries of one list, page by page. @param report is updated */
export async function* pagesFor<T>(
  asking: Asking,
  { method, uri }: Question,
  list: Pick<PagedList<T>, 'field' | 'entryIn' | 'idOf'>,
  options: ListOptions,
  report: OpenReport,
): AsyncGenerator<{ readonly entries: readonly T[]; readonly result: Data }, void, undefined> {
  const { maxPages = DEFAULT_MAX_PAGES, maxResources = DEFAULT_MAX_LISTED } = options;
  async function ask(page: Data): Promise<Data> {
    const question = { method, uri: uri ?? '', part: String(page.cursor ?? '') };
    return (await asking.ask(question, uri === undefined ? page : { uri, ...page }, options)).value;
  }
  const pages = pagesIn({ ...list, ask, maxPages, refusal: (what) => invalidAnswer(what, uri) });
  for await (const { entries, dropped, result, stopped, fruitless } of pages) {
    const room = maxResources - report.resources;
    const given = entries.slice(0, room);
    const full = entries.length > room || (entries.length === room && stopped !== 'end');
    report.pages++;
    report.dropped += dropped;
    report.resources += given.length;
    report.fruitless = fruitless;
    report.stopped = full ? 'max-resources' : stopped;
    noteLimits(result, report);
    yield { entries: given, result };
    if (full) return;
  }
  report.stopped ??= 'max-pages';
}

/**
 * Yields the pages of one list.
 * @param question its method and its URI; @param report is updated
 */
export async function* pagesOf(
  asking: Asking,
  question: Question,
  options: ListOptions,
  report: OpenReport,
): AsyncGenerator<ListPage, void, undefined> {
  const idOf = ({ uri }: ListedResource): string => identityOf(uri);
  const list = { field: 'resources', entryIn: (entry: unknown) => resourceIn(entry), idOf };
  for await (const { entries, result } of pagesFor(asking, question, list, options, report)) {
    yield { resources: entries, result };
  }
}

function noteLimits({ _meta }: Data, report: OpenReport): void {
  if (typeof _meta !== 'object' || _meta === null) return;
  const { [TRUNCATED_META_KEY]: truncatedBy, [MISSING_META_KEY]: missing } = _meta as Data;
  if (typeof truncatedBy === 'string') report.truncatedBy = truncatedBy;
  if (Array.isArray(missing)) report.missing = missing;
}

/** Yields the entries of batches one by one. Leaving it ends the source of the batches. */
export function oneByOne<T>(batches: AsyncGenerator<readonly T[], void, undefined>): AsyncIterator<T, void, undefined> {
  let batch: readonly T[] = [];
  let at = 0;
  // Concurrent calls of `next` are answered in turn.
  let before: Promise<unknown> | undefined;
  function next(): Promise<IteratorResult<T, void>> {
    if (before === undefined && at < batch.length) return Promise.resolve({ done: false, value: batch[at++] as T });
    const found = before === undefined ? fetch() : before.then(fetch, fetch);
    before = found;
    const clear = (): void => {
      if (before === found) before = undefined;
    };
    found.then(clear, clear);
    return found;
  }
  async function fetch(): Promise<IteratorResult<T, void>> {
    while (at >= batch.length) {
      const more = await batches.next();
      if (more.done === true) return { done: true, value: undefined };
      batch = more.value;
      at = 0;
    }
    return { done: false, value: batch[at++] as T };
  }
  return {
    next,
    async return() {
      batch = [];
      at = 0;
      await batches.return();
      return { done: true, value: undefined };
    },
  };
}

/** A URI template with all fields from the server. */
export type ListedTemplate = ResourceTemplate & Data;

/**
 * Yields URI templates; none from a server without the method, since no capability declares it.
 * @param report is updated
 */
export async function* templatesIn(
  asking: Asking,
  options: ListOptions,
  report: OpenReport,
): AsyncGenerator<ListedTemplate, void, undefined> {
  const question = { method: 'resources/templates/list', uri: undefined };
  const list = { field: 'resourceTemplates', entryIn: templateIn, idOf: (each: ListedTemplate) => each.uriTemplate };
  try {
    for await (const { entries } of pagesFor(asking, question, list, options, report)) yield* entries;
  } catch (error) {
    if (report.pages > 0 || !isUnsupported(error)) throw error;
    report.stopped = 'end';
  }
}

function templateIn(entry: unknown): ListedTemplate | undefined {
  const template = entry as Data | null;
  if (typeof template?.uriTemplate !== 'string') return undefined;
  return { name: template.uriTemplate, ...template } as Data as ListedTemplate;
}
