/** Types of the definition that a provider is made of: a scheme, a list and a read are enough. */
import type { Resource, ResourceTemplate } from '../../protocol/resources.ts';
import type { BodyContent, ResourceBody } from '../body.ts';
import type { Context } from '../context.ts';
import type { Page, ReadOptions, ResourceProvider } from '../provider.ts';
import type { TemplateValue } from '../uri-template.ts';

type Awaitable<T> = T | Promise<T>;

/**
 * A resource as a definition describes it. A container has the type `inode/directory`. Fields that are left out are filled
 * in: `name` from the end of the URI, the type of anything else from the name, `capabilities` from what the definition can do.
 */
export type DefinedResource = DefinedFacts & { readonly uri: string };

/** The same without the URI, where that is known. */
export type DefinedFacts = Partial<Omit<Resource, 'uri' | 'capabilities'>>;

/** A page that the definition cut itself. */
export interface DefinedPage {
  readonly resources: readonly DefinedResource[];
  /** The position behind the last entry; it should name that entry, so that others may come and go meanwhile. */
  readonly nextCursor?: string | undefined;
}

/** The content of a resource. `mimeType` replaces what is said of the resource otherwise. */
export type DefinedContent =
  | string
  | Uint8Array
  | { readonly text: string; readonly mimeType?: string }
  | { readonly bytes: Uint8Array; readonly mimeType?: string }
  | (Omit<Extract<BodyContent, { kind: 'stream' }>, 'kind'> & {
      readonly mimeType?: string;
      readonly close?: () => Promise<void>;
    });

/** Values of the variables of a template, as they were in the URI, decoded. */
export type DefinedVariables = Readonly<Record<string, TemplateValue>>;

/** All values of a variable, or those that begin with what was typed: what does not is left out. */
export type CompleteVariable = (
  typed: string,
  known: Readonly<Record<string, string>>,
  ctx: Context,
) => Awaitable<readonly string[]>;

export interface DefinedTemplate extends ResourceTemplate {
  /** The resource of these values, where the definition's own `read` is not to be asked. */
  readonly read?:
    | ((
        variables: DefinedVariables,
        want: ReadOptions,
        ctx: Context,
        uri: string,
      ) => Awaitable<DefinedContent | undefined>)
    | undefined;
  /** Describes the resource; undefined for values without one. Left out: every URI that matches has one. */
  readonly metadata?:
    | ((variables: DefinedVariables, ctx: Context, uri: string) => Awaitable<DefinedFacts | undefined>)
    | undefined;
  /** By variable. */
  readonly complete?: Readonly<Record<string, CompleteVariable>> | undefined;
}

/** Says that a resource changed, or without a URI that the listed set did. */
export type TellChange = (uri?: string) => void;

/** A definition with its name filled in. */
export type NamedDefinition = ProviderDefinition & { readonly name: string };

export interface ProviderDefinition {
  /** For logs and errors. Default: the first scheme. */
  readonly name?: string | undefined;
  /** The scheme of its URIs, or several, lower case. */
  readonly scheme: string | readonly string[];
  /**
   * The direct children of a container; of undefined, the roots. An array is taken as all there is: it is sorted by URI
   * and cut into pages. For a set that is too large for that, return a page.
   */
  readonly list: (
    uri: string | undefined,
    page: Page,
    ctx: Context,
  ) => Awaitable<readonly DefinedResource[] | DefinedPage | undefined>;
  /**
   * The content of a resource; undefined when there is none. Containers without content read as their children.
   * Several bodies, windows and the like: return bodies.
   */
  readonly read: (
    uri: string,
    want: ReadOptions,
    ctx: Context,
  ) => Awaitable<DefinedContent | readonly ResourceBody[] | undefined>;
  /**
   * Describes a resource as `list` does; undefined when there is none. Left out: the resource is looked for in the lists,
   * from the roots down through containers whose URI its own begins with. Give it where lists are long, or URIs are not
   * nested like that.
   */
  readonly metadata?: ((uri: string, ctx: Context) => Awaitable<DefinedResource | undefined>) | undefined;
  readonly templates?: readonly DefinedTemplate[] | undefined;
  /**
   * Starts to listen to the data; returns what ends it, whose result nobody looks at. Opened once, when the first subscriber comes, and ended with the
   * last. Tell a container too when a child comes or goes.
   */
  readonly watch?: ((tell: TellChange) => Awaitable<() => unknown>) | undefined;
  readonly search?: ResourceProvider['search'] | undefined;
  /** `read` honours `want.range` and returns bodies with a `window`. Default: false. */
  readonly ranges?: boolean | undefined;
  readonly close?: (() => Awaitable<void>) | undefined;
}
