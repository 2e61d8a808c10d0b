/**
 * Sorts the contents of a read (SEP-2093, "Multi-Content Semantics") into formats of one content, or children of a container.
 * If the server does not say which they are, the items with the URI of the first are its formats, and the rest are `others`.
 */
import { bestFormat } from '../core/formats/accept.ts';
import type { ReadItem } from './contents.ts';
import { invalidAnswer, ResourceClientError } from './errors.ts';
import type { Data } from './link.ts';
import { identityOf } from './shapes.ts';

/** Something in an answer that the protocol does not allow, and that the client accepts all the same. */
export interface ReadIssue {
  readonly kind: /** Items of another URI in the read of a resource that has no children (2093-6). They are in `foreign`. */
    | 'foreign-uri'
    /** Formats of one content that describe it differently (2093-6). */
    | 'inconsistent-metadata'
    /** There are no contents, and nothing says that this is a container (2093-6). */
    | 'no-contents'
    /** Items that are neither text nor blob. They were left out. */
    | 'not-an-item'
    /** Contents of several URIs, and the server does not say what the others are (2093-7). They are in `others`. */
    | 'several-uris';
  readonly count: number;
}

/** The answer to a read. */
export interface ReadResult {
  /** The URI as the caller asked for it. */
  readonly uri: string;
  /** Whether the resource has children, as its items, its metadata or its server say; undefined where none of them says. */
  readonly listable: boolean | undefined;
  /**
   * The item to take: the best format for `accept`; without `accept`, the first item (2093-7). Undefined for a container without
   * contents of its own, and for an empty answer.
   */
  readonly primary: ReadItem | undefined;
  /** All formats of the primary item's content, itself included, in the order in which the server sent them (2093-6). */
  readonly alternatives: readonly ReadItem[];
  /** Children of a container, perhaps not all of them: to get all, list the container (2093-5). */
  readonly children: readonly ReadItem[];
  /** Other items of a server that does not say what they are (2093-7). */
  readonly others: readonly ReadItem[];
  /** Items that do not belong in this answer. */
  readonly foreign: readonly ReadItem[];
  readonly issues: readonly ReadIssue[];
  /** The source of the answer. `revalidated`: from the cache, after the server said that it had not changed. */
  readonly from: 'server' | 'cache' | 'revalidated';
  /** The server's unchanged result, with every field. */
  readonly result: Data;
}

export interface OutcomeSetup {
  readonly uri: string;
  /** Whether the resource has children, as far as was known before the read. */
  readonly listable: boolean | undefined;
  /** Whether every resource of this server declares what it can do (`capabilities`). */
  readonly declaring: boolean;
  readonly accept: string | readonly string[] | undefined;
  /** How many items were left out because they are neither text nor blob. */
  readonly dropped: number;
  readonly from: ReadResult['from'];
  readonly result: Data;
}

/** @throws ResourceClientError `invalid-answer`, `not-acceptable` */
export function outcomeOf(items: readonly ReadItem[], setup: OutcomeSetup): ReadResult {
  const { uri } = setup;
  const identity = identityOf(uri);
  const isSelf = (item: ReadItem): boolean => identityOf(item.resource.uri) === identity;
  const formats = items.filter(isSelf);
  const declared = formats.map((item) => item.resource.capabilities?.list).find((list) => list !== undefined);
  // If every resource declares what it can do, and no item has the URI that was asked for, the items are children.
  const onlyChildren = setup.declaring && items.length > 0 && formats.length === 0;
  const listable = declared ?? setup.listable ?? (onlyChildren ? true : undefined);
  const issues: ReadIssue[] = [];
  if (setup.dropped > 0) issues.push({ kind: 'not-an-item', count: setup.dropped });
  const outcome = (parts: Partial<ReadResult>): ReadResult => {
    const alternatives = parts.alternatives ?? [];
    return {
      uri,
      listable,
      primary: preferred(alternatives, setup.accept, uri),
      alternatives,
      children: [],
      others: [],
      foreign: [],
      issues,
      from: setup.from,
      result: setup.result,
      ...parts,
    };
  };

  if (listable === true) {
    return outcome({ alternatives: formats, children: items.filter((item) => !isSelf(item)) });
  }
  if (listable === false) {
    const foreign = items.filter((item) => !isSelf(item));
    if (formats.length === 0) throw invalidAnswer('The server sent no contents of this resource', uri);
    if (foreign.length > 0) issues.push({ kind: 'foreign-uri', count: foreign.length });
    noteDifferences(formats, issues);
    return outcome({ alternatives: formats, foreign });
  }
  const [first] = items;
  if (first === undefined) {
    issues.push({ kind: 'no-contents', count: 0 });
    return outcome({});
  }
  const primary = identityOf(first.resource.uri);
  const alternatives = items.filter((item) => identityOf(item.resource.uri) === primary);
  const others = items.filter((item) => identityOf(item.resource.uri) !== primary);
  if (others.length > 0) issues.push({ kind: 'several-uris', count: others.length });
  noteDifferences(alternatives, issues);
  return outcome({ alternatives, others });
}

/** Returns the best format for `accept`, or the first one without `accept`. @throws ResourceClientError `not-acceptable` */
function preferred(items: readonly ReadItem[], accept: OutcomeSetup['accept'], uri: string): ReadItem | undefined {
  if (accept === undefined || items.length === 0) return items[0];
  const types = items.map(typeOf);
  const best = bestFormat(types, accept);
  if (best !== undefined) return items[best];
  throw new ResourceClientError('not-acceptable', 'The resource has none of the formats that are wanted', {
    uri,
    data: { available: types },
  });
}

/** Returns the MIME type of an item; if it has none, the most general type of text or of bytes. */
const typeOf = ({ resource, form }: ReadItem): string =>
  resource.mimeType ?? (form === 'text' ? 'text/plain' : 'application/octet-stream');

/** Fields that have to be the same in every format of one content. */
const SHARED = ['name', 'title', 'description', 'annotations'] as const;

function noteDifferences(items: readonly ReadItem[], issues: ReadIssue[]): void {
  const [first, ...rest] = items;
  if (first === undefined) return;
  const sharedFields = (item: ReadItem): string => JSON.stringify(SHARED.map((field) => item.resource[field] ?? null));
  const expected = rest.length > 0 ? sharedFields(first) : '';
  const count = rest.filter((item) => sharedFields(item) !== expected).length;
  if (count > 0) issues.push({ kind: 'inconsistent-metadata', count });
}
