/** What the laws of layers are made of: an inner provider that keeps what reaches it, and calls of every method. */
import type { ResourceBody } from '../core/body.ts';
import { type Context, createContext } from '../core/context.ts';
import type { Layer } from '../core/layer.ts';
import {
  type ChangeEvent,
  OPTIONAL_METHODS,
  type ProviderFeatures,
  type ResourceProvider,
  type SearchMatch,
} from '../core/provider.ts';
import type { Resource } from '../protocol/resources.ts';
import { EVERYTHING } from './observe.ts';

export interface LayerLaw {
  /** What holds, as a sentence. */
  readonly name: string;
  /** Throws when the layer breaks the law. */
  readonly check: (layer: Layer) => Promise<void>;
}

export type OptionalMethod = (typeof OPTIONAL_METHODS)[number];

/** The methods that run on behalf of a caller. */
export const CALLER_METHODS = ['list', 'metadata', 'read', 'listTemplates', 'complete', 'watch', 'search'] as const;
export type CallerMethod = (typeof CALLER_METHODS)[number];

export const URI = 'memory:///note.txt';

export const RESOURCE: Resource = {
  uri: URI,
  name: 'note.txt',
  mimeType: 'text/plain',
  size: 5,
  capabilities: { list: false, subscribe: true },
};

const FEATURES: ProviderFeatures = {
  schemes: ['memory'],
  watch: true,
  templates: true,
  completion: true,
  search: true,
  ranges: true,
};

/** Something that reached the inner provider. */
export interface Reached {
  readonly method: CallerMethod;
  readonly uri: string | undefined;
  readonly ctx: Context;
}

export interface InnerOptions {
  /** The optional methods that it has. Default: all. */
  readonly methods?: readonly OptionalMethod[];
  /** Runs in every method before it answers; what it throws is what the method throws. */
  readonly before?: (reached: Reached) => Promise<void>;
  readonly bodies?: () => readonly ResourceBody[];
  readonly onWatch?: (onChange: (event: ChangeEvent) => void) => void;
  readonly onUnwatch?: () => void;
  readonly onClose?: () => Promise<void>;
}

const MATCH: SearchMatch = { uri: URI, place: { line: 1, offset: 0 } };

/** A provider of one note, which does as it is told. */
export function innerProvider(options: InnerOptions = {}): ResourceProvider {
  const { methods = OPTIONAL_METHODS, before = async () => {} } = options;
  const bytes = new TextEncoder().encode('hello');
  const optional: Required<Pick<ResourceProvider, OptionalMethod>> = {
    async listTemplates(_page, ctx) {
      await before({ method: 'listTemplates', uri: undefined, ctx });
      return { resourceTemplates: [{ uriTemplate: 'memory:///{+path}', name: 'by path' }] };
    },
    async complete(_request, ctx) {
      await before({ method: 'complete', uri: undefined, ctx });
      return { values: ['note.txt'], hasMore: false };
    },
    async watch(uri, onChange, ctx) {
      await before({ method: 'watch', uri, ctx });
      options.onWatch?.(onChange);
      return { [Symbol.asyncDispose]: async () => options.onUnwatch?.() };
    },
    async *search(query, ctx) {
      await before({ method: 'search', uri: query.uri, ctx });
      yield MATCH;
    },
    isListed: async () => true,
    close: async () => options.onClose?.(),
  };
  return {
    name: 'inner',
    features: FEATURES,
    async list(uri, _page, ctx) {
      await before({ method: 'list', uri, ctx });
      return { resources: [RESOURCE] };
    },
    async metadata(uri, ctx) {
      await before({ method: 'metadata', uri, ctx });
      return RESOURCE;
    },
    async read(uri, _want, ctx) {
      await before({ method: 'read', uri, ctx });
      return options.bodies?.() ?? [{ resource: RESOURCE, content: { kind: 'bytes', bytes } }];
    },
    ...Object.fromEntries(methods.map((method) => [method, optional[method]])),
  };
}

/** Calls a method as a frontend would, and drains what is drained there. */
export async function call(provider: ResourceProvider, method: CallerMethod, ctx = createContext()): Promise<unknown> {
  switch (method) {
    case 'list':
      return await provider.list(URI, { limit: 10 }, ctx);
    case 'metadata':
      return await provider.metadata(URI, ctx);
    case 'read':
      return await provider.read(URI, EVERYTHING, ctx);
    case 'listTemplates':
      return await provider.listTemplates?.({ limit: 10 }, ctx);
    case 'complete': {
      const request = { uriTemplate: 'memory:///{+path}', variable: 'path', value: '', known: {}, limit: 10 };
      return await provider.complete?.(request, ctx);
    }
    case 'watch':
      return await provider.watch?.(URI, () => {}, ctx);
    case 'search': {
      const matches: SearchMatch[] = [];
      const found = provider.search?.({ pattern: 'hello', literal: true, uri: URI }, ctx) ?? [];
      for await (const match of found) matches.push(match);
      return matches;
    }
  }
}
