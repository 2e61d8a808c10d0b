/** The parts of the laws of layers: an inner provider that reports each call to the law, and a call of every method. */
import { markRepeatable } from '../core/again.ts';
import type { ResourceBody } from '../core/body.ts';
import { type Context, createContext } from '../core/context.ts';
import { detached } from '../core/invocation.ts';
import type { Layer } from '../core/layer.ts';
import type { TaskRequest } from '../core/mounts/mounted-server.ts';
import { NAMED_METHODS, type Operations, type Owner, type ServedSkill } from '../core/operations.ts';
import {
  type ChangeEvent,
  OPTIONAL_METHODS,
  type ProviderFeatures,
  type ResourcePage,
  type SearchMatch,
} from '../core/provider.ts';
import type { Resource } from '../protocol/resources.ts';
import { EVERYTHING } from './observe.ts';

export interface LayerLaw {
  /** The law, as a sentence. */
  readonly name: string;
  /** Throws when the layer breaks the law. */
  readonly check: (layer: Layer) => Promise<void>;
}

/** The optional methods of a provider, and the methods that only the engine's whole tree of mounts has. */
export const ALL_OPTIONAL = [...OPTIONAL_METHODS, ...NAMED_METHODS] as const;

export type OptionalMethod = (typeof ALL_OPTIONAL)[number];

/** The methods that run on behalf of a caller. */
export const CALLER_METHODS = [
  'list',
  'metadata',
  'read',
  'listTemplates',
  'complete',
  'watch',
  'search',
  ...NAMED_METHODS,
] as const;
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

/** A call that has reached the inner provider. */
export interface Reached {
  readonly method: CallerMethod;
  readonly uri: string | undefined;
  readonly ctx: Context;
}

export interface InnerOptions {
  /** The optional methods of the provider. Default: all. */
  readonly methods?: readonly OptionalMethod[];
  /** Called in every method of `CALLER_METHODS` before it answers. If this throws, the method throws the same. */
  readonly before?: (reached: Reached) => Promise<void>;
  /** Makes the bodies of a read. Default: one body with the text of the note. */
  readonly bodies?: () => readonly ResourceBody[];
  /** The answer to `again` for bodies that the provider has given. Default: true. */
  readonly again?: (bodies: readonly ResourceBody[], uri: string, ctx: Context) => boolean;
  /** The answer to `listAgain` for a page that the provider has given. Default: true. */
  readonly listAgain?: (page: ResourcePage, uri: string | undefined, ctx: Context) => boolean;
  /** Called with each page that the provider gives. */
  readonly onPage?: (page: ResourcePage) => void;
  readonly onWatch?: (onChange: (event: ChangeEvent) => void) => void;
  readonly onUnwatch?: () => void;
  readonly onClose?: () => Promise<void>;
}

const NAME = 'note';
const OWNER: Owner = { mount: 'inner', foreign: true };
const TASK: TaskRequest = { method: 'tasks/get', name: NAME, taskId: 'task' };

const SERVED_SKILL: ServedSkill = {
  skill: { uri: URI, frontmatter: { name: NAME, description: 'A note' }, resources: 'dynamic' },
  mount: 'inner',
  files: new Map([[URI, RESOURCE]]),
};

const MATCH: SearchMatch = { uri: URI, place: { line: 1, offset: 0 } };

/** A provider with one note, whose behaviour the options decide. */
export function innerProvider(options: InnerOptions = {}): Operations {
  const { methods = ALL_OPTIONAL, before = async () => {} } = options;
  const bytes = new TextEncoder().encode('hello');
  const given = new WeakMap<readonly ResourceBody[], string>();
  const listed = new WeakMap<ResourcePage, string | undefined>();
  const reached = (method: CallerMethod, ctx: Context, uri?: string): Promise<void> => before({ method, uri, ctx });
  const optional: Required<Pick<Operations, OptionalMethod>> = {
    again: (bodies, uri, want, ctx) =>
      given.get(bodies) === uri && want.range === undefined && (options.again?.(bodies, uri, ctx) ?? true),
    listAgain: (page, uri, _want, ctx) =>
      listed.has(page) && listed.get(page) === uri && (options.listAgain?.(page, uri, ctx) ?? true),
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
    heard: () => {},
    async *search(query, ctx) {
      await before({ method: 'search', uri: query.uri, ctx });
      yield MATCH;
    },
    async listTools(_page, ctx) {
      await reached('listTools', ctx);
      return { items: [{ described: { name: NAME, inputSchema: { type: 'object' } }, owner: OWNER }] };
    },
    async callTool(_request, _owner, ctx) {
      await reached('callTool', ctx);
      return { content: [] };
    },
    async askTask(_request, _owner, ctx) {
      await reached('askTask', ctx);
      return { taskId: TASK.taskId, status: 'working' };
    },
    async headerParameters(_tool, _owner, ctx) {
      await reached('headerParameters', ctx);
      return [];
    },
    async listPrompts(_page, ctx) {
      await reached('listPrompts', ctx);
      return { items: [{ described: { name: NAME }, owner: OWNER }] };
    },
    async getPrompt(_request, _owner, ctx) {
      await reached('getPrompt', ctx);
      return { messages: [] };
    },
    async completePrompt(_request, _owner, ctx) {
      await reached('completePrompt', ctx);
      return { values: [NAME], hasMore: false };
    },
    async listSkills(_page, ctx) {
      await reached('listSkills', ctx);
      return { items: [SERVED_SKILL] };
    },
    async getSkill(uri, ctx) {
      await reached('getSkill', ctx, uri);
      return SERVED_SKILL;
    },
    async subscribe(to, onChange, ctx) {
      await reached('subscribe', ctx, 'uri' in to ? to.uri : undefined);
      options.onWatch?.(() => onChange());
      return { [Symbol.asyncDispose]: async () => options.onUnwatch?.() };
    },
    isListed: async () => true,
    alsoNamed: () => [],
    close: async () => options.onClose?.(),
  };
  return {
    name: 'inner',
    features: FEATURES,
    async list(uri, _page, ctx) {
      await before({ method: 'list', uri, ctx });
      const page = { resources: [RESOURCE] };
      listed.set(page, uri);
      options.onPage?.(page);
      return markRepeatable(page);
    },
    async metadata(uri, ctx) {
      await before({ method: 'metadata', uri, ctx });
      return RESOURCE;
    },
    async read(uri, _want, ctx) {
      await before({ method: 'read', uri, ctx });
      const bodies = options.bodies?.() ?? [{ resource: RESOURCE, content: { kind: 'bytes', bytes } }];
      if (bodies.some(({ content }) => content.kind === 'stream')) return bodies;
      given.set(bodies, uri);
      return markRepeatable(bodies);
    },
    ...Object.fromEntries(methods.map((method) => [method, optional[method]])),
  };
}

/** Calls a method as a frontend would, and reads all results of a search. */
export async function call(provider: Operations, method: CallerMethod, ctx = createContext()): Promise<unknown> {
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
    case 'listTools':
      return await provider.listTools?.({ limit: 10 }, ctx);
    case 'callTool':
      return await provider.callTool?.({ name: NAME }, OWNER, detached(ctx));
    case 'askTask':
      return await provider.askTask?.(TASK, OWNER, detached(ctx));
    case 'headerParameters':
      return await provider.headerParameters?.(NAME, OWNER, ctx);
    case 'listPrompts':
      return await provider.listPrompts?.({ limit: 10 }, ctx);
    case 'getPrompt':
      return await provider.getPrompt?.({ name: NAME }, OWNER, detached(ctx));
    case 'completePrompt':
      return await provider.completePrompt?.({ prompt: NAME, argument: 'a', value: '', known: {} }, OWNER, ctx);
    case 'listSkills':
      return await provider.listSkills?.({ limit: 10 }, ctx);
    case 'getSkill':
      return await provider.getSkill?.(URI, ctx);
    case 'subscribe':
      return await provider.subscribe?.({ uri: URI }, () => {}, ctx);
    case 'search': {
      const matches: SearchMatch[] = [];
      const found = provider.search?.({ pattern: 'hello', literal: true, uri: URI }, ctx) ?? [];
      for await (const match of found) matches.push(match);
      return matches;
    }
  }
}
