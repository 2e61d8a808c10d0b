/**
 * The one interface: whatever holds data implements it, every layer wraps it, every frontend reads from it.
 * Methods carry the wire's names. URIs are the provider's own; only `mounts.ts` knows prefixes.
 */
import type { Resource, ResourceTemplate } from '../protocol/resources.ts';
import type { ResourceBody } from './body.ts';
import type { Context } from './context.ts';
import type { Loan } from './loan.ts';
import type { Passage } from './passage.ts';

/** The features of a provider: flat facts that core and frontends read instead of going by its name. */
export interface ProviderFeatures {
  /** `false` where there are none, and never will be: of a mounted server that has tools or prompts only. */
  readonly resources?: boolean | undefined;
  /** URI schemes it publishes, lower case, or `*` for any; two unprefixed mounts must not share one. */
  readonly schemes: readonly string[];
  /** `watch` works. */
  readonly watch: boolean;
  /** `false` where `watch` works for the listed set only, not for single resources. */
  readonly watchesResources?: boolean | undefined;
  /** `listTemplates` returns something. */
  readonly templates: boolean;
  /** `complete` works for the variables of its templates. */
  readonly completion: boolean;
  /** `search` works. */
  readonly search: boolean;
  /** `read` honours `range` without reading what lies outside of it. */
  readonly ranges: boolean;
  /** It shows different things for different roots of the client (`Context.roots`). */
  readonly roots?: boolean | undefined;
  /** Two clients of the same principal may see different things: watches are not shared. */
  readonly apart?: boolean | undefined;
  /** It says itself, in the context's notes, how fresh its answers are. */
  readonly hints?: boolean | undefined;
  /** Its URIs are another server's, which may know one thing by several spellings: each of them is decided about. */
  readonly foreign?: boolean | undefined;
  /** A resource of it may tell of others, or be reached by another URI: it asks `Context.may` for each. */
  readonly gathers?: boolean | undefined;
  /** It is reached over a connection: in lists of several mounts it may be passed over while it is slow. */
  readonly remote?: boolean | undefined;
}

/** Which part of a list is wanted. */
export interface Page {
  /**
   * The provider's own position, as it gave it in `nextCursor`; never seen by a peer in the clear. It names the last
   * entry rather than counting, so that insertions and deletions neither lose nor repeat others (design, section 4).
   */
  readonly cursor?: string | undefined;
  /** At most this many entries; at least 1. */
  readonly limit: number;
  /** Only what has something below is wanted, to go down there: a list that is `whole` has nothing to show then. */
  readonly containersOnly?: boolean | undefined;
}

export interface ResourcePage {
  readonly resources: readonly Resource[];
  /** Absent on the last page. A page may be short, even empty, and still have a next one. */
  readonly nextCursor?: string | undefined;
  /** This list has what lies below its entries too: nobody needs to go down, nor has a limit for going down. */
  readonly whole?: boolean | undefined;
}

export interface TemplatePage {
  readonly resourceTemplates: readonly ResourceTemplate[];
  readonly nextCursor?: string | undefined;
}

/** A window on the bytes of a resource. */
export interface ByteRange {
  readonly offset: number;
  /** Bytes; to the end when absent. */
  readonly length?: number | undefined;
}

export interface ReadOptions {
  /** Only these bytes. Providers without `ranges` may return the whole; the frontend cuts. */
  readonly range?: ByteRange | undefined;
  /** The most bytes that the caller will take, over all bodies; a provider may stop early with `too-large`. */
  readonly maxBytes: number;
  /** The most children a container may return (2093-5). */
  readonly maxChildren: number;
  /**
   * MIME types or ranges of them in order of preference, as `['text/markdown', 'text/*']`: the one body that suits best is
   * wanted, of those that there are (`core/formats/accept.ts`). Left out: the provider's own choice, or all alternatives.
   */
  readonly accept?: readonly string[] | undefined;
  /**
   * Memory to read into. What is given of a read, and with it what lies there, is looked at until the loan ends, and not after
   * that: so what is kept for others is read without.
   */
  readonly loan?: Loan | undefined;
}

/** Asks for values of one variable of a template that the provider listed. */
export interface CompletionRequest {
  readonly uriTemplate: string;
  readonly variable: string;
  /** The text that has been typed so far. */
  readonly value: string;
  /** Values of the other variables that are already known. */
  readonly known: Readonly<Record<string, string>>;
  /** At most this many values. */
  readonly limit: number;
}

export interface CompletionValues {
  readonly values: readonly string[];
  /** How many there are in all, if known. */
  readonly total?: number | undefined;
  readonly hasMore: boolean;
  /** Fields of another server's answer that are sent on as they came: of the completion, and of the result around it. */
  readonly others?: { readonly completion: object; readonly result: object } | undefined;
}

/** Something changed: one resource (its content, or a container's set of children), or the listed set. */
export type ChangeEvent = { readonly kind: 'updated'; readonly uri: string } | { readonly kind: 'list-changed' };

/** A search for text in contents, or, without a pattern, for names that match the glob. */
export interface SearchQuery {
  /** RE2 syntax, matched line by line in linear time; a plain text when `literal`. */
  readonly pattern?: string | undefined;
  readonly literal: boolean;
  /** On paths below where the search starts; one without a slash matches names at any depth. */
  readonly glob?: string | undefined;
  /** The resource, or container, that is searched; everything when undefined. */
  readonly uri?: string | undefined;
}

/** A place, without its text: what is shown of it is read through the layers like anything else. */
export interface SearchMatch {
  readonly uri: string;
  /** The line, from 1, and the byte where the match begins; absent in a search for names. */
  readonly place?: { readonly line: number; readonly offset: number } | undefined;
  /** The names that the glob was matched with, joined by slashes, where they are not those in the URI. */
  readonly path?: string | undefined;
  /** The part that fits, in a ranked search; then `place` is not known yet. */
  readonly passage?: Passage | undefined;
}

export interface ResourceProvider {
  readonly name: string;
  readonly features: ProviderFeatures;

  /**
   * The direct children of `uri`, in a stable order; the roots when `uri` is undefined (2093-4).
   * @throws ResourceError `not-found`, `not-listable`, `invalid` (a cursor that is not its own)
   */
  list(uri: string | undefined, page: Page, ctx: Context): Promise<ResourcePage>;

  /**
   * Describes `uri` as `list` would, without touching the content (2093-2).
   * @throws ResourceError `not-found`, `denied`
   */
  metadata(uri: string, ctx: Context): Promise<Resource>;

  /**
   * One body, several alternatives of one content with the same URI (2093-6), or a bounded set of a container's
   * children, each whole (2093-5). Every body must be drained or closed by the caller.
   * @throws ResourceError `not-found`, `denied`, `too-large`
   */
  read(uri: string, want: ReadOptions, ctx: Context): Promise<readonly ResourceBody[]>;

  /**
   * Whether `read` of the same would give this caller the same again: these very bodies are what it gave before, as one
   * array, with the same `uri` and `want`. Answers at once, and says no where it is not sure: no is always right. What
   * was read is not kept longer than that is known, and whoever asks does without `ctx.signal`. Default: no.
   *
   * A layer that overrides `read` and not this says no. One that has both does here whatever it has to do at a read: it
   * decides anew, and records. Never throws. Put it on a provider with `withAgain`.
   */
  again?(bodies: readonly ResourceBody[], uri: string, want: ReadOptions, ctx: Context): boolean;

  /**
   * The same of `list`: whether it would give this caller this very page again, for the same `uri` and `want`. What is said
   * of entries may be as old as the provider's documentation says. An answer may need several pages: what a layer does at a
   * list, it hands to `ctx.onceCertain`, where there is one.
   */
  listAgain?(page: ResourcePage, uri: string | undefined, want: Page, ctx: Context): boolean;

  listTemplates?(page: Page, ctx: Context): Promise<TemplatePage>;
  complete?(request: CompletionRequest, ctx: Context): Promise<CompletionValues>;

  /**
   * Calls back on every change of `uri`, or of the listed set when `uri` is undefined, from the moment the promise
   * resolves until the returned handle is disposed. A resource that does not exist yet may be watched.
   */
  watch?(uri: string | undefined, onChange: (event: ChangeEvent) => void, ctx: Context): Promise<AsyncDisposable>;

  search?(query: SearchQuery, ctx: Context): AsyncIterable<SearchMatch>;

  /** Whether a list of its own has exactly this URI, letter by letter. Default: nobody knows. */
  isListed?(uri: string, ctx: Context): Promise<boolean>;

  /**
   * Other URIs of its own that policies have to allow before this one is, for whatever it is: one that leads to an
   * earlier state of a file is only for those who may have the file. By the URI alone, at once; never throws. Default: none.
   */
  alsoNamed?(uri: string): readonly string[];
  close?(): Promise<void>;
}

/** Optional methods that a layer may drop: then it is slow, and right. */
export const AGAIN_METHODS = ['again', 'listAgain'] as const;

/** The optional methods, as data: a layer that drops another one fails its contract. */
export const OPTIONAL_METHODS = [
  ...AGAIN_METHODS,
  'listTemplates',
  'complete',
  'watch',
  'search',
  'isListed',
  'alsoNamed',
  'close',
] as const;
