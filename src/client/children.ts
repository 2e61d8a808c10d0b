/**
 * Lists the children of one resource on any server: with `resources/list` and the URI if the server is known to honor the URI,
 * else with `resources/directory/read` if the server declares it. Otherwise it tries, in this order, `resources/list` with the
 * URI, reading the folder as VS Code does, and the entries of the flat list whose URIs lie below.
 */

import { entriesIn } from '../connection/results.ts';
import { decodedText } from '../core/uri.ts';
import { DIRECTORY_READ_METHOD } from '../protocol/methods.ts';
import { DIRECTORY_MIME_TYPE } from '../protocol/resources.ts';
import type { Asking } from './asking.ts';
import { ResourceClientError } from './errors.ts';
import type { Link, Scoping } from './link.ts';
import { type ListOptions, type ListPage, newReport, type OpenReport, pagesOf } from './paging.ts';
import type { Reading } from './reading.ts';
import { identityOf, insideOf, type ListedResource } from './shapes.ts';
import { uniqueName } from './unique.ts';

const LIST = 'resources/list';

/**
 * The key in `_meta` that marks a container which the server did not list as one: the client inferred it from a URI below it, or
 * from an item without bytes and type.
 */
export const INFERRED_META_KEY = 'vitrine/inferred';

type Pages = AsyncGenerator<ListPage, void, undefined>;

export interface ChildrenOptions extends ListOptions {
  /** Gives everything below the resource, not only its direct children, if the flat list is used. */
  readonly deep?: boolean | undefined;
  /** Never falls back to the flat list. */
  readonly scopedOnly?: boolean | undefined;
}

/** Lists children in the best way that the server offers. */
export interface Children {
  /** Lists the children page by page. @throws ResourceClientError `not-found`, `not-listable`, and the codes of requests */
  pages(uri: string, options: ChildrenOptions, report: OpenReport): Pages;
}

/** Codes of the errors after which a fallback is tried. */
const FALLS_BACK: ReadonlySet<string> = new Set([
  'unsupported',
  'not-found',
  'not-listable',
  'invalid',
  'invalid-answer',
  'failed',
  'too-large',
]);

export function createChildren(asking: Asking, reading: Reading): Children {
  const { connection } = asking;
  const probes = new WeakMap<Link, Promise<boolean>>();

  /**
   * Finds out whether the server honors the URI of `resources/list`, by listing a resource that cannot exist: a server that
   * ignores the parameter answers with its whole list.
   */
  function honoursUri(link: Link, options: ListOptions): Promise<boolean> {
    const running = probes.get(link);
    if (running !== undefined) return running;
    const probe = (async () => {
      const uri = `vitrine-probe:///${uniqueName()}`;
      try {
        const { signal: _, ...lasting } = options;
        const answer = await asking.request(link, LIST, { uri }, lasting);
        return (entriesIn(answer, 'resources') ?? []).length === 0;
      } catch (error) {
        if (error instanceof ResourceClientError && FALLS_BACK.has(error.code)) return true;
        throw error;
      }
    })();
    probes.set(link, probe);
    probe.then(
      (honours) => {
        link.learned.scoped = honours;
      },
      () => probes.delete(link),
    );
    return probe;
  }

  /**
   * Returns the ways that may work, best first. There is only one if the server is known to honor the URI, or declares
   * directories. A server that does not declare directories is not asked for them (SEP-2640, Capability Negotiation).
   */
  function ways(link: Link, options: ChildrenOptions): readonly Scoping[] {
    const { facts, learned } = link;
    if (learned.scoped === true) return ['scoped-list'];
    if (facts.directories) return ['directory-read'];
    return [
      ...(learned.scoped === false ? [] : (['scoped-list'] as const)),
      'trailing-slash',
      ...(options.scopedOnly === true ? [] : (['flat-list'] as const)),
    ];
  }

  async function* attempt(way: Scoping, link: Link, uri: string, options: ChildrenOptions, report: OpenReport): Pages {
    switch (way) {
      case 'scoped-list': {
        const pages = pagesOf(asking, { method: LIST, uri }, options, report);
        const first = await pages.next();
        if (link.learned.scoped !== true && !(await honoursUri(link, options))) {
          throw new ResourceClientError('unsupported', 'The server gives the same list for every URI', { uri });
        }
        if (first.done !== true) yield first.value;
        return yield* pages;
      }
      case 'directory-read':
        return yield* pagesOf(asking, { method: DIRECTORY_READ_METHOD, uri }, options, report);
      case 'trailing-slash':
        return yield* folderRead(uri, options, report);
      case 'flat-list':
        return yield* flat(uri, options, report);
    }
  }

  /** Reads the folder and gives the items below it. The URI has no slash at its end at first (VS Code), then one, as some servers need. */
  async function* folderRead(uri: string, options: ChildrenOptions, report: OpenReport): Pages {
    const bare = identityOf(uri);
    let refusal: unknown;
    for (const spelling of new Set([bare, insideOf(bare)])) {
      try {
        const { result, alternatives, children, others } = await reading.read(spelling, options, unknown);
        const found = [...alternatives, ...children, ...others].map(({ resource, byteLength }) =>
          asChild(resource, byteLength),
        );
        const resources = directChildren(uri, found, new Set());
        if (resources.length === 0) continue;
        report.pages++;
        report.resources += resources.length;
        report.stopped = 'end';
        yield { resources, result };
        return;
      } catch (error) {
        refusal ??= error;
      }
    }
    throw refusal ?? notListable(uri);
  }

  async function* flat(uri: string, options: ChildrenOptions, report: OpenReport): Pages {
    const seen = new Set<string>();
    const wholeReport = newReport();
    const identity = identityOf(uri);
    let isListed = false;
    let found = 0;
    for await (const { resources, result } of pagesOf(asking, { method: LIST, uri: undefined }, options, wholeReport)) {
      isListed ||= resources.some((resource) => identityOf(resource.uri) === identity);
      const below = options.deep === true ? inside(uri, resources) : directChildren(uri, resources, seen);
      found += below.length;
      Object.assign(report, { ...wholeReport, via: 'flat-list', resources: found });
      yield { resources: below, result };
    }
    Object.assign(report, { ...wholeReport, via: 'flat-list', resources: found });
    if (found > 0) return;
    throw isListed ? notListable(uri) : new ResourceClientError('not-found', 'Resource not found', { uri });
  }

  return {
    async *pages(uri, options, report) {
      const link = await connection.get(options.signal);
      let refusal: unknown;
      const tried: Scoping[] = [];
      for (const way of ways(link, options)) {
        const attemptReport = newReport();
        const pages = attempt(way, link, uri, options, attemptReport);
        let page: IteratorResult<ListPage, void>;
        try {
          page = await pages.next();
        } catch (error) {
          options.signal?.throwIfAborted();
          if (!(error instanceof ResourceClientError) || !FALLS_BACK.has(error.code)) throw error;
          if (error.code === 'unsupported') learn(link, way, false);
          // If no way works, the caller gets the refusal that says most about the resource.
          refusal = moreTelling(refusal, error);
          tried.push(way);
          continue;
        }
        // The resource has children, so the ways that the server refused for it do not work on this server at all.
        if (page.done !== true && page.value.resources.length > 0)
          for (const refused of tried) learn(link, refused, false);
        while (page.done !== true) {
          Object.assign(report, attemptReport, { via: way });
          yield page.value;
          page = await pages.next();
        }
        Object.assign(report, attemptReport, { via: way });
        return;
      }
      throw refusal ?? notListable(uri);
    },
  };
}

const unknown = () => ({ listable: undefined, size: undefined });

function learn(link: Link, way: Scoping, works: boolean): void {
  if (way === 'scoped-list') link.learned.scoped = works;
}

/** Picks the refusal that is about the resource, rather than about a method that the server lacks. */
function moreTelling(before: unknown, error: ResourceClientError): unknown {
  if (before === undefined) return error;
  const rank = ({ code }: ResourceClientError): number => (code === 'not-listable' ? 2 : code === 'not-found' ? 1 : 0);
  return rank(error) > rank(before as ResourceClientError) ? error : before;
}

const notListable = (uri: string): ResourceClientError =>
  new ResourceClientError('not-listable', 'The resource has no children to list', { uri });

/** Turns an item of a folder's contents into an entry of a list. An item without bytes and without a type is a folder. */
function asChild(resource: ListedResource, byteLength: number): ListedResource {
  const { mimeType, capabilities, size } = resource;
  if (byteLength > 0) return size === undefined ? { ...resource, size: byteLength } : resource;
  if (mimeType !== undefined || capabilities !== undefined) return resource;
  return { ...resource, mimeType: DIRECTORY_MIME_TYPE, _meta: { ...resource._meta, [INFERRED_META_KEY]: true } };
}

const inside = (uri: string, resources: readonly ListedResource[]): readonly ListedResource[] => {
  const begin = insideOf(identityOf(uri));
  return resources.filter(({ uri: other }) => other.startsWith(begin) && other.length > begin.length);
};

/** Picks the direct children. A resource that lies deeper is replaced by the child of `uri` that contains it. */
function directChildren(
  uri: string,
  resources: readonly ListedResource[],
  seen: Set<string>,
): readonly ListedResource[] {
  const begin = insideOf(identityOf(uri));
  return inside(uri, resources).flatMap((resource) => {
    const slash = resource.uri.indexOf('/', begin.length);
    const direct = slash === -1 || slash === resource.uri.length - 1;
    const child = direct ? resource : containerAt(resource.uri.slice(0, slash));
    const identity = identityOf(child.uri);
    if (seen.has(identity)) return [];
    seen.add(identity);
    return [child];
  });
}

function containerAt(uri: string): ListedResource {
  const last = uri.slice(uri.lastIndexOf('/') + 1);
  return { uri, name: decodedText(last), mimeType: DIRECTORY_MIME_TYPE, _meta: { [INFERRED_META_KEY]: true } };
}
