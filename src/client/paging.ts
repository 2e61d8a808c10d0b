/** Lists, a page at a time: asked for when somebody wants it, bounded, and ended where a cursor comes again. */
import { type CursorStop, type PagedList, pagesIn } from '../connection/paging.ts';
import { MISSING_META_KEY, TRUNCATED_META_KEY } from '../protocol/meta.ts';
import type { ResourceTemplate } from '../protocol/resources.ts';
import type { Asking, CallOptions } from './asking.ts';
import { invalidAnswer, isUnsupported } from './errors.ts';
import type { Data, Scoping } from './link.ts';
import { identityOf, type ListedResource, resourceIn } from './shapes.ts';

export type ListVia =
  /** The list of no resource in particular. */
  | 'default-list'
  /** `scoped-list`: `resources/list` with a `uri` (2093-4). `directory-read`: `resources/directory/read`. */
  | Scoping;

/** Why a list ended. */
export type ListStop = CursorStop | 'max-pages' | 'max-resources';

/** How a list went, so far. */
export interface ListReport {
  /** How it was had; undefined before the first page. */
  readonly via: ListVia | undefined;
  /** Undefined while it goes on, and where its reader left it. */
  readonly stopped: ListStop | undefined;
  readonly pages: number;
  readonly resources: number;
  /** Pages with nothing new in them, though others came after them. */
  readonly fruitless: number;
  /** Entries that cannot be resources. */
  readonly dropped: number;
  /** The server's own limit that ended the list (`vitrine/truncatedBy`). */
  readonly truncatedBy: string | undefined;
  /** The parts that are missing in it, as the server says (`vitrine/missing`). */
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
  /** As it was sent, every field. */
  readonly result: Data;
}

export interface ListOptions extends CallOptions {
  /** Pages that are asked for at most. Default 10,000. */
  readonly maxPages?: number | undefined;
  /** Resources that are given at most. Default 100,000. */
  readonly maxResources?: number | undefined;
}

export const DEFAULT_MAX_PAGES = 10_000;
export const DEFAULT_MAX_LISTED = 100_000;

/** A list has all entries of a method, or those below a resource. */
interface Question {
  readonly method: string;
  readonly uri: string | undefined;
}

/** The entries of one list, page by page. @param report is kept up to date */
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
 * The pages of one list.
 * @param question its method and what it is of; @param report is kept up to date
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

/** Gives the entries of batches one by one. Leaving it ends the source of the batches. */
export function oneByOne<T>(batches: AsyncGenerator<readonly T[], void, undefined>): AsyncIterator<T, void, undefined> {
  let batch: readonly T[] = [];
  let at = 0;
  // Whoever asks ahead is answered in turn.
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

/** A URI template with whatever else the server says of it. */
export type ListedTemplate = ResourceTemplate & Data;

/**
 * URI templates; none of a server that does not have the method: no capability says so.
 * @param report is kept up to date
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
