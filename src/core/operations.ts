/**
 * The operations of an engine: those of a provider, and those on tools and prompts, which have a name and no URI, and on
 * subscriptions. A layer wraps all of them, so that there is no second way in.
 */
import type { GetPromptResult, PromptDescription, ToolDescription } from '../protocol/content.ts';
import type { InputRequired } from '../protocol/input-required.ts';
import type { Resource } from '../protocol/resources.ts';
import type { Skill } from '../protocol/skills.ts';
import type { Context } from './context.ts';
import type { Invocation } from './invocation.ts';
import type { CallOutcome, NamedRequest, PromptCompletion, TaskRequest } from './mounts/mounted-server.ts';
import type { CompletionValues, Page, ResourceProvider } from './provider.ts';
import type { HeaderParameter } from './schema/header-parameters.ts';
import type { TaskRef } from './task-ids.ts';

/** Whose a tool or prompt is. It is found out once, and goes with the request. */
export interface Owner {
  /** The mount that it belongs to, or would; undefined for Vitrine's own tools and those of a program. */
  readonly mount?: string | undefined;
  /** It is a mounted server's: what is said of it, and what it gives, is what others say. */
  readonly foreign?: boolean | undefined;
  /** Of one that is asked for and foreign: whether its server lists it. @throws what listing throws */
  readonly exists?: ((ctx: Context) => Promise<boolean>) | undefined;
  /** The tool does nothing but what is asked about again, resource by resource. */
  readonly onlyResources?: boolean | undefined;
}

/** An entry of a list of tools or prompts. */
export interface Named<T> {
  readonly described: T;
  readonly owner: Owner;
}

export interface NamedPage<T> {
  readonly items: readonly Named<T>[];
  readonly nextCursor?: string | undefined;
}

/** A skill, and all that access to it is decided by. */
export interface ServedSkill {
  readonly skill: Skill;
  /** The mount that has it. */
  readonly mount: string | undefined;
  /** The files of its manifest, in its order; of files that are not in it nothing is known but their URIs. */
  readonly files: ReadonlyMap<string, Resource>;
}

export interface SkillPage {
  readonly items: readonly ServedSkill[];
  readonly nextCursor?: string | undefined;
}

/** The target of a subscription: a resource, a list, or a task. */
export type Subscribed =
  | { readonly uri: string }
  | { readonly list: 'resources' | 'tools' | 'prompts' }
  | { readonly task: TaskRef };

/** The operations that no provider has by itself. */
export interface NamedOperations {
  listTools(page: Page, ctx: Context): Promise<NamedPage<ToolDescription>>;
  /** @throws ResourceError `invalid` for a tool that is not there, and what a mounted server answers with */
  callTool(request: NamedRequest, owner: Owner, invocation: Invocation): Promise<CallOutcome>;
  /**
   * The members of what `callTool` would give this caller, in JSON, where a tool gave it before and is sure that it would
   * give the same again: as `ResourceProvider.again`. Undefined where nobody is sure, which is always right.
   */
  callToolAgain?(request: NamedRequest, owner: Owner, ctx: Context): string | undefined;
  /** Asks about a task that a call has begun. @throws ResourceError `invalid` where there is none */
  askTask(request: TaskRequest, owner: Owner, invocation: Invocation): Promise<object>;
  /** The arguments of a tool that HTTP clients repeat in headers; none for a tool that is not there. */
  headerParameters(tool: string, owner: Owner, ctx: Context): Promise<readonly HeaderParameter[]>;
  listPrompts(page: Page, ctx: Context): Promise<NamedPage<PromptDescription>>;
  /** @throws ResourceError `invalid` for a prompt that is not there, or arguments that it does not take */
  getPrompt(request: NamedRequest, owner: Owner, invocation: Invocation): Promise<GetPromptResult | InputRequired>;
  /** All values that there are: whoever asked takes as many as it wants. */
  completePrompt(request: PromptCompletion, owner: Owner, ctx: Context): Promise<CompletionValues>;
  /** Skills in the order of their URIs, mount by mount; each is whole (SEP-2640, `skills/list`). */
  listSkills(page: Page, ctx: Context): Promise<SkillPage>;
  /** @param uri of a `SKILL.md` @throws ResourceError `invalid` where no skill is served (SEP-2640, `skills/get`) */
  getSkill(uri: string, ctx: Context): Promise<ServedSkill>;
  /** Calls back after every change, from the moment the promise resolves until the handle is disposed. */
  subscribe(to: Subscribed, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
}

/** A provider, with or without these. */
export interface Operations extends ResourceProvider, Partial<NamedOperations> {}

/** All that an engine has. */
export interface EngineOperations extends ResourceProvider, NamedOperations {}

/** As data: a layer that drops one fails its contract. */
export const NAMED_METHODS = [
  'listTools',
  'callTool',
  'askTask',
  'headerParameters',
  'listPrompts',
  'getPrompt',
  'completePrompt',
  'listSkills',
  'getSkill',
  'subscribe',
] as const satisfies readonly (keyof NamedOperations)[];
