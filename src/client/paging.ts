/** Lists, a page at a time: asked for when somebody wants it, bounded, and ended where a cursor comes again. */
import { MISSING_META_KEY, TRUNCATED_META_KEY } from '../protocol/meta.ts';
import type { ResourceTemplate } from '../protocol/resources.ts';
import type { Asking, CallOptions } from './asking.ts';
import { invalidAnswer, isUnsupported } from './errors.ts';
import type { Data, Scoping } from './link.ts';
import { cursorIn, entriesIn, type ListedResource, resourceIn } from './shapes.ts';

export type ListVia =
  /** The list of no resource in particular. */
  | 'default-list'
  /** `scoped-list`: `resources/list` with a `uri` (2093-4). `directory-read`: `resources/directory/read`. */
  | Scoping;

/** Why a list ended. */
export type ListStop =
  /** The server has no more. */
  | 'end'
  /** The server gave a cursor that it had given before. */
  | 'repeated-cursor'
  | 'max-pages'
  | 'max-resources';

/** How a list went, so far. */
export interface ListReport {
  /** How it was had; undefined before the first page. */
  readonly via: ListVia | undefined;
  /** Undefined while it goes on, and where its reader left it. */
  readonly stopped: ListStop | undefined;
  readonly pages: number;
  readonly resources: number;
  /** Entries that cannot be resources. */
  readonly dropped: number;
  /** The server's own limit that ended the list (`vitrine/truncatedBy`). */
  readonly truncatedBy: string | undefined;
  /** What the server says is missing in it (`vitrine/missing`). */
  readonly missing: readonly unknown[];
}

export type OpenReport = { -readonly [Field in keyof ListReport]: ListReport[Field] };

export const newReport = (): OpenReport => ({
  via: undefined,
  stopped: undefined,
  pages: 0,
  resources: 0,
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

/** The longest cursor that is sent back, in UTF-16 units. */
const MAX_CURSOR = 65_536;

/**
 * The pages of one list.
 * @param question its method and what it is of; @param report is kept up to date
 */
export async function* pagesOf(
  asking: Asking,
  question: { readonly method: string; readonly uri: string | undefined },
  options: ListOptions,
  report: OpenReport,
): AsyncGenerator<ListPage, void, undefined> {
  const { maxPages = DEFAULT_MAX_PAGES, maxResources = DEFAULT_MAX_LISTED } = options;
  const { method, uri } = question;
  const used = new Set<number>();
  let cursor: string | undefined;
  for (let page = 0; ; page++) {
    if (page >= maxPages) {
      report.stopped = 'max-pages';
      return;
    }
    const params = { ...(uri !== undefined && { uri }), ...(cursor !== undefined && { cursor }) };
    const { value } = await asking.ask({ method, uri: uri ?? '', part: cursor ?? '' }, params, options);
    const entries = entriesIn(value, 'resources');
    if (entries === undefined) throw invalidAnswer('The answer of the server is no list of resources', uri);
    const resources = entries.flatMap((entry) => resourceIn(entry) ?? []);
    report.pages++;
    report.dropped += entries.length - resources.length;
    noteLimits(value, report);
    const room = maxResources - report.resources;
    const given = resources.length > room ? resources.slice(0, room) : resources;
    report.resources += given.length;
    cursor = cursorIn(value);
    const full = resources.length > room || (resources.length === room && cursor !== undefined);
    if (full) report.stopped = 'max-resources';
    else if (cursor === undefined) report.stopped = 'end';
    else if (used.has(markOf(cursor))) report.stopped = 'repeated-cursor';
    yield { resources: given, result: value };
    if (full || cursor === undefined || report.stopped !== undefined) return;
    if (cursor.length > MAX_CURSOR) throw invalidAnswer('The server sent a cursor that is too long', uri);
    used.add(markOf(cursor));
  }
}

function noteLimits({ _meta }: Data, report: OpenReport): void {
  if (typeof _meta !== 'object' || _meta === null) return;
  const { [TRUNCATED_META_KEY]: truncatedBy, [MISSING_META_KEY]: missing } = _meta as Data;
  if (typeof truncatedBy === 'string') report.truncatedBy = truncatedBy;
  if (Array.isArray(missing)) report.missing = missing;
}

/** A number for a cursor, so that many long ones take little: 53 bits of its hash (two of FNV's kind, mixed). */
function markOf(text: string): number {
  let low = 0xdeadbeef ^ text.length;
  let high = 0x41c6ce57 ^ text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x9e3779b1);
    high = Math.imul(high ^ unit, 0x5f356495);
  }
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0);
}

/** What comes in batches, one by one. Leaving it ends what the batches come from. */
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

/** URI templates; none of a server that does not have the method: no capability says so. */
export async function* templatesIn(
  asking: Asking,
  options: ListOptions,
): AsyncGenerator<ListedTemplate, void, undefined> {
  const { maxPages = DEFAULT_MAX_PAGES, maxResources = DEFAULT_MAX_LISTED } = options;
  const used = new Set<number>();
  let cursor: string | undefined;
  let given = 0;
  for (let page = 0; page < maxPages; page++) {
    const question = { method: 'resources/templates/list', uri: '', part: cursor ?? '' };
    let value: Data;
    try {
      ({ value } = await asking.ask(question, cursor === undefined ? {} : { cursor }, options));
    } catch (error) {
      if (page === 0 && isUnsupported(error)) return;
      throw error;
    }
    for (const entry of entriesIn(value, 'resourceTemplates') ?? []) {
      const template = entry as Data | null;
      if (typeof template?.uriTemplate !== 'string') continue;
      if (given++ >= maxResources) return;
      yield { name: template.uriTemplate, ...template } as ListedTemplate;
    }
    cursor = cursorIn(value);
    if (cursor === undefined || cursor.length > MAX_CURSOR || used.has(markOf(cursor))) return;
    used.add(markOf(cursor));
  }
}
