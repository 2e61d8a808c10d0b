/** The types of a provider's definition: a scheme, a list and a read are enough. */
import type { Resource, ResourceTemplate } from '../../protocol/resources.ts';
import type { BodyContent, ResourceBody } from '../body.ts';
import type { Context } from '../context.ts';
import type { Page, ReadOptions, ResourceProvider } from '../provider.ts';
import type { TemplateValue } from '../uri-template.ts';

type Awaitable<T> = T | Promise<T>;

/**
 * A resource in a definition. A container has the type `inode/directory`. Missing fields are filled in: `name` from the
 * end of the URI, the type of other resources from the name, `capabilities` from the functions of the definition.
 */
export type DefinedResource = DefinedFacts & { readonly uri: string };

/** The same without the URI, where it is known. */
export type DefinedFacts = Partial<Omit<Resource, 'uri' | 'capabilities'>>;

/** A page made by the definition itself. */
export interface DefinedPage {
  readonly resources: readonly DefinedResource[];
  /** The position after the last entry. It should name that entry, so that entries may be added and removed meanwhile. */
  readonly nextCursor?: string | undefined;
}

/** The content of a resource. `mimeType` replaces the type in its description. */
export type DefinedContent =
  | string
  | Uint8Array
  | { readonly text: string; readonly mimeType?: string }
  | { readonly bytes: Uint8Array; readonly mimeType?: string }
  | (Omit<Extract<BodyContent, { kind: 'stream' }>, 'kind'> & {
      readonly mimeType?: string;
      readonly close?: () => Promise<void>;
    });

/** Decoded values of a template's variables in a URI. */
export type DefinedVariables = Readonly<Record<string, TemplateValue>>;

/** Returns all values of a variable, or those that begin with the typed text; other values are left out. */
export type CompleteVariable = (
  typed: string,
  known: Readonly<Record<string, string>>,
  ctx: Context,
) => Awaitable<readonly string[]>;

export interface DefinedTemplate extends ResourceTemplate {
  /**
   * Reads the resource of these values. The definition's own `read` is still used for a URI that its `metadata` describes or,
   * without `metadata`, its lists contain.
   */
  readonly read?:
    | ((
        variables: DefinedVariables,
        want: ReadOptions,
        ctx: Context,
        uri: string,
      ) => Awaitable<DefinedContent | undefined>)
    | undefined;
  /**
   * Describes the resource; undefined for values without one. Without this function, every matching URI has a resource if the
   * template has a `read`. A template with neither function is only listed.
   */
  readonly metadata?:
    | ((variables: DefinedVariables, ctx: Context, uri: string) => Awaitable<DefinedFacts | undefined>)
    | undefined;
  /** Completions by variable. */
  readonly complete?: Readonly<Record<string, CompleteVariable>> | undefined;
}

/** Reports a change of a resource, or, without a URI, of the listed set. */
export type TellChange = (uri?: string) => void;

/** A definition with a name. */
export type NamedDefinition = ProviderDefinition & { readonly name: string };

export interface ProviderDefinition {
  /** The name in logs and errors. Default: the first scheme. */
  readonly name?: string | undefined;
  /** The scheme of its URIs, or several, in lower case. */
  readonly scheme: string | readonly string[];
  /**
   * Returns the direct children of a container, or the roots for undefined; undefined if there is no such container. An array
   * means the complete list: it is sorted by URI and split into pages. For a larger set, return a page.
   */
  readonly list: (
    uri: string | undefined,
    page: Page,
    ctx: Context,
  ) => Awaitable<readonly DefinedResource[] | DefinedPage | undefined>;
  /**
   * Returns the content of a resource; undefined when there is none. A container without content reads as its children.
   * For several bodies, windows and the like, return bodies.
   */
  readonly read: (
    uri: string,
    want: ReadOptions,
    ctx: Context,
  ) => Awaitable<DefinedContent | readonly ResourceBody[] | undefined>;
  /**
   * Describes a resource as `list` does; undefined when there is none. Without this function, the resource is searched
   * in the lists, from the roots down through containers whose URI begins its own. Provide it where lists are long, or
   * URIs are not nested.
   */
  readonly metadata?: ((uri: string, ctx: Context) => Awaitable<DefinedResource | undefined>) | undefined;
  readonly templates?: readonly DefinedTemplate[] | undefined;
  /**
   * Starts to listen to the data, and returns a function that stops, whose result is ignored. Called with the first subscriber;
   * the returned function is called after the last. Report a container too when a child is added or removed.
   */
  readonly watch?: ((tell: TellChange) => Awaitable<() => unknown>) | undefined;
  /**
   * Present if `watch` puts load on the data and reports the same changes to every caller: then only one of several replicas
   * listens. The other replicas call this with each change that the first one reports, without a URI for the listed set, before
   * they notify subscribers. This function drops cached data that is out of date. Default: each replica listens by itself.
   */
  readonly heard?: TellChange | undefined;
  readonly search?: ResourceProvider['search'] | undefined;
  /** Whether `read` honours `want.range` and returns bodies with a `window`. Default: false. */
  readonly ranges?: boolean | undefined;
  readonly close?: (() => Awaitable<void>) | undefined;
}
