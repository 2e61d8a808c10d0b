/**
 * Declares the operations of an engine: all of a provider, and others on tools, prompts and skills, and subscriptions.
 * A layer wraps all of them, so that none can be bypassed.
 */

import type { GetPromptResult, PromptDescription, ToolDescription } from '../protocol/content.ts';
import type { InputRequired } from '../protocol/input-required.ts';
import type { ListName } from '../protocol/list-name.ts';
import type { Resource } from '../protocol/resources.ts';
import type { Skill } from '../protocol/skills.ts';
import type { Context } from './context.ts';
import type { Invocation } from './invocation.ts';
import type { CallOutcome, NamedRequest, PromptCompletion, TaskRequest } from './mounts/mounted-server.ts';
import type { CompletionValues, Page, ResourceProvider } from './provider.ts';
import type { HeaderParameter } from './schema/header-parameters.ts';
import type { TaskRef } from './task-ids.ts';

/** The owner of a tool or prompt. It is determined once per request. */
export interface Owner {
  /** The mount that it belongs to; undefined for Vitrine's own tools and those of a program. */
  readonly mount?: string | undefined;
  /** Whether it belongs to a mounted server, so that its description and results are foreign. */
  readonly foreign?: boolean | undefined;
  /** For a foreign tool or prompt: returns whether its server lists it. @throws errors of listing */
  readonly exists?: ((ctx: Context) => Promise<boolean>) | undefined;
  /** Whether the tool only accesses resources, so that the policy decides about each of them anyway. */
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

/** A skill, with the facts that decide about access to it. */
export interface ServedSkill {
  readonly skill: Skill;
  /** The mount of the skill. */
  readonly mount: string | undefined;
  /** The files of its manifest, in order; of other files only the URIs are known. */
  readonly files: ReadonlyMap<string, Resource>;
}

export interface SkillPage {
  readonly items: readonly ServedSkill[];
  readonly nextCursor?: string | undefined;
}

/** The target of a subscription: a resource, a list, or a task. */
export type Subscribed = { readonly uri: string } | { readonly list: ListName } | { readonly task: TaskRef };

/** The operations that no single provider has. */
export interface NamedOperations {
  listTools(page: Page, ctx: Context): Promise<NamedPage<ToolDescription>>;
  /** @throws ResourceError `invalid` for an unknown tool, and errors of a mounted server */
  callTool(request: NamedRequest, owner: Owner, invocation: Invocation): Promise<CallOutcome>;
  /**
   * Returns the members of the result of `callTool` as JSON, if the tool is certain that it would return the same result to this
   * caller again, like `ResourceProvider.again`. Undefined in case of doubt, which is always correct.
   */
  callToolAgain?(request: NamedRequest, owner: Owner, ctx: Context): string | undefined;
  /** Asks about a task that a call has begun. @throws ResourceError `invalid` for an unknown task */
  askTask(request: TaskRequest, owner: Owner, invocation: Invocation): Promise<object>;
  /** Returns the arguments that HTTP clients repeat in headers; none for an unknown tool. */
  headerParameters(tool: string, owner: Owner, ctx: Context): Promise<readonly HeaderParameter[]>;
  listPrompts(page: Page, ctx: Context): Promise<NamedPage<PromptDescription>>;
  /** @throws ResourceError `invalid` for an unknown prompt or argument */
  getPrompt(request: NamedRequest, owner: Owner, invocation: Invocation): Promise<GetPromptResult | InputRequired>;
  /** Returns all values; the caller takes as many as it needs. */
  completePrompt(request: PromptCompletion, owner: Owner, ctx: Context): Promise<CompletionValues>;
  /** Lists skills in the order of their URIs, mount by mount; each is complete (SEP-2640, `skills/list`). */
  listSkills(page: Page, ctx: Context): Promise<SkillPage>;
  /** @param uri of a `SKILL.md` @throws ResourceError `invalid` if no skill is served at the URI (SEP-2640, `skills/get`) */
  getSkill(uri: string, ctx: Context): Promise<ServedSkill>;
  /** Calls back after every change, from the moment the promise resolves until the handle is disposed of. */
  subscribe(to: Subscribed, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
}

/** A provider that may have these operations. */
export interface Operations extends ResourceProvider, Partial<NamedOperations> {}

/** All operations of an engine. */
export interface EngineOperations extends ResourceProvider, NamedOperations {}

/** The operations as data: a layer that leaves one out fails its contract. */
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
