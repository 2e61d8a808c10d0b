/**
 * The central interface: every data source implements it, every layer wraps it, every frontend reads from it. Its methods have
 * the names of the wire. URIs are the provider's own; only the code of mounts (`core/mounts`) knows prefixes.
 */
import type { Resource, ResourceTemplate } from '../protocol/resources.ts';
import type { ResourceBody } from './body.ts';
import type { Context } from './context.ts';
import type { Loan } from './loan.ts';
import type { Passage } from './passage.ts';

/** The features of a provider: plain data that core and frontends use instead of the provider's name. */
export interface ProviderFeatures {
  /** `false` if it never has resources: for a mounted server that has only tools or prompts. */
  readonly resources?: boolean | undefined;
  /** The URI schemes that it publishes, in lower case, or `*` for any; two mounts without a prefix must not share one. */
  readonly schemes: readonly string[];
  /** Whether `watch` works. */
  readonly watch: boolean;
  /** `false` where `watch` works only for the listed set, not for single resources. */
  readonly watchesResources?: boolean | undefined;
  /** Whether a watch of a folder also tells of each resource directly in it, where `Context.inside` asks for that. */
  readonly watchesInside?: boolean | undefined;
  /** Whether `listTemplates` returns any. */
  readonly templates: boolean;
  /** Whether `complete` works for the variables of its templates. */
  readonly completion: boolean;
  /** Whether `search` works. */
  readonly search: boolean;
  /** Whether `read` honours `range` without reading the bytes outside it. */
  readonly ranges: boolean;
  /** Whether it shows different resources for different roots of the client (`Context.roots`). */
  readonly roots?: boolean | undefined;
  /** Whether two clients of one principal may see different resources, so that watches are not shared. */
  readonly apart?: boolean | undefined;
  /** Whether it notes the freshness of its answers itself, in the context. */
  readonly hints?: boolean | undefined;
  /** Whether its URIs belong to another server, which may accept several spellings: the policy then decides about each. */
  readonly foreign?: boolean | undefined;
  /** Whether a resource may include others, or have another URI: it then asks `Context.may` about each. */
  readonly gathers?: boolean | undefined;
  /** Whether it is reached over a connection: lists of several mounts may skip it while it is slow. */
  readonly remote?: boolean | undefined;
}

/** The requested part of a list. */
export interface Page {
  /**
   * The provider's own position from `nextCursor`; peers see it only sealed. It names the last entry instead of counting, so that
   * insertions and deletions neither lose nor repeat other entries (design, section 4).
   */
  readonly cursor?: string | undefined;
  /** The most entries; at least 1. */
  readonly limit: number;
  /** Requests only containers, to descend into them: a list that is `whole` then returns none. */
  readonly containersOnly?: boolean | undefined;
}

export interface ResourcePage {
  readonly resources: readonly Resource[];
  /** Absent on the last page. A page may be short, even empty, and still have a next page. */
  readonly nextCursor?: string | undefined;
  /** Whether the list also contains everything below its entries, so that nobody needs to descend. */
  readonly whole?: boolean | undefined;
}

export interface TemplatePage {
  readonly resourceTemplates: readonly ResourceTemplate[];
  readonly nextCursor?: string | undefined;
}

/** A window on the bytes of a resource. */
export interface ByteRange {
  readonly offset: number;
  /** The number of bytes; to the end when absent. */
  readonly length?: number | undefined;
}

export interface ReadOptions {
  /** Requests only these bytes. A provider without `ranges` may return the whole; the frontend then cuts it. */
  readonly range?: ByteRange | undefined;
  /** The most bytes over all bodies; a provider may stop early with `too-large`. */
  readonly maxBytes: number;
  /** The most children that a container may return (2093-5). */
  readonly maxChildren: number;
  /**
   * Requests the best body for these MIME types or ranges of them, in order of preference, as `['text/markdown', 'text/*']`
   * (`core/formats/accept.ts`). Left out: the provider chooses, or returns all formats.
   */
  readonly accept?: readonly string[] | undefined;
  /**
   * Memory to read into. Content in it is valid only until the loan ends, so content that is kept longer is read without a loan.
   */
  readonly loan?: Loan | undefined;
}

/** Requests values for one variable of one of the provider's templates. */
export interface CompletionRequest {
  readonly uriTemplate: string;
  readonly variable: string;
  /** The text typed so far. */
  readonly value: string;
  /** Known values of the other variables. */
  readonly known: Readonly<Record<string, string>>;
  /** The most values. */
  readonly limit: number;
}

export interface CompletionValues {
  readonly values: readonly string[];
  /** The total number of values, if known. */
  readonly total?: number | undefined;
  readonly hasMore: boolean;
  /** Unchanged fields of another server's answer: of the completion, and of the result around it. */
  readonly others?: { readonly completion: object; readonly result: object } | undefined;
}

/** A change: of one resource (its content, or a container's children), or of the listed set. */
export type ChangeEvent = { readonly kind: 'updated'; readonly uri: string } | { readonly kind: 'list-changed' };

/** A search for text in contents, or, without a pattern, for names that match the glob. */
export interface SearchQuery {
  /** RE2 syntax, matched line by line in linear time; plain text when `literal`. */
  readonly pattern?: string | undefined;
  readonly literal: boolean;
  /** Applied to paths below the start of the search; a glob without a slash matches names at any depth. */
  readonly glob?: string | undefined;
  /** The resource or container to search; everything when undefined. */
  readonly uri?: string | undefined;
}

/** A place without its text: the shown text is read through the layers like any other. */
export interface SearchMatch {
  readonly uri: string;
  /** The line, counted from 1, and the byte where the match begins; absent in a search for names. */
  readonly place?: { readonly line: number; readonly offset: number } | undefined;
  /** The names that the glob matched, joined by slashes. May be left out if they are the names in the URI. */
  readonly path?: string | undefined;
  /** The matching passage of a ranked search; `place` is then not known yet. */
  readonly passage?: Passage | undefined;
  /** Set on the last match of a resource that has more than are given. */
  readonly more?: boolean | undefined;
}

export interface ResourceProvider {
  readonly name: string;
  readonly features: ProviderFeatures;

  /**
   * Lists the direct children of `uri`, in a stable order; the roots when `uri` is undefined (2093-4).
   * @throws ResourceError `not-found`, `not-listable`, `invalid` (a foreign cursor)
   */
  list(uri: string | undefined, page: Page, ctx: Context): Promise<ResourcePage>;

  /**
   * Describes `uri` as `list` would, without reading the content (2093-2).
   * @throws ResourceError `not-found`, `denied`
   */
  metadata(uri: string, ctx: Context): Promise<Resource>;

  /**
   * Returns one body, or several formats of one content with the same URI (2093-6), or some of a container's children, each whole
   * (2093-5). The caller must drain or close every body.
   * @throws ResourceError `not-found`, `denied`, `too-large`
   */
  read(uri: string, want: ReadOptions, ctx: Context): Promise<readonly ResourceBody[]>;

  /**
   * Whether `read` would return the same to this caller: `bodies` is the array that it returned before, for the same `uri` and
   * `want`. It answers at once, without `ctx.signal`, and returns false in case of doubt, which is always correct. Provider and
   * caller keep read content only as long as they can verify it. Default: false.
   *
   * A layer that overrides `read` but not this method returns false. A layer that overrides both repeats here everything that it
   * does at a read: it decides again, and records. Never throws. Add it to a provider with `withAgain`.
   */
  again?(bodies: readonly ResourceBody[], uri: string, want: ReadOptions, ctx: Context): boolean;

  /**
   * The same for `list`: whether it would return this page to this caller again, for the same `uri` and `want`. Descriptions of
   * entries may be as old as the provider's documentation says. An answer may need several pages, so a layer passes its side
   * effects to `ctx.onceCertain`, where there is one.
   */
  listAgain?(page: ResourcePage, uri: string | undefined, want: Page, ctx: Context): boolean;

  listTemplates?(page: Page, ctx: Context): Promise<TemplatePage>;
  complete?(request: CompletionRequest, ctx: Context): Promise<CompletionValues>;

  /**
   * Calls back on every change of `uri`, or of the listed set when `uri` is undefined, from the moment the promise resolves until
   * the returned handle is disposed of. A resource that does not exist yet may be watched.
   */
  watch?(uri: string | undefined, onChange: (event: ChangeEvent) => void, ctx: Context): Promise<AsyncDisposable>;

  /**
   * Present if watching puts load on the source and reports the same changes to every caller: then only one of several replicas
   * watches. The other replicas call this with each change that the first one reports, before they notify their own watchers.
   * This method drops cached data that is out of date. Never throws. Default: each replica watches by itself.
   */
  heard?(event: ChangeEvent): void;

  search?(query: SearchQuery, ctx: Context): AsyncIterable<SearchMatch>;

  /** Whether one of its lists contains exactly this URI, character by character. Default: unknown. */
  isListed?(uri: string, ctx: Context): Promise<boolean>;

  /**
   * Other URIs of its own that policies must allow before this one: an earlier version of a file is only for callers who may have
   * the file. Decided by the URI alone, at once; never throws. Default: none.
   */
  alsoNamed?(uri: string): readonly string[];
  close?(): Promise<void>;
}

/** Optional methods that a layer may leave out: it then works, but more slowly. */
export const AGAIN_METHODS = ['again', 'listAgain'] as const;

/** The optional methods, as data: a layer that leaves one out, other than `AGAIN_METHODS`, fails its contract. */
export const OPTIONAL_METHODS = [
  ...AGAIN_METHODS,
  'listTemplates',
  'complete',
  'watch',
  'heard',
  'search',
  'isListed',
  'alsoNamed',
  'close',
] as const;
