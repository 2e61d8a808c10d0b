/** The tools and prompts of a server that is mounted, beside its resources: in its own names and URIs until published. */
import type { CallToolResult, GetPromptResult, PromptDescription, ToolDescription } from '../../protocol/content.ts';
import type { Era } from '../../protocol/era.ts';
import type { InputRequired } from '../../protocol/input-required.ts';
import type { Skill } from '../../protocol/skills.ts';
import type { TaskMethod, TaskStarted } from '../../protocol/tasks.ts';
import type { Context } from '../context.ts';
import type { Invocation } from '../invocation.ts';
import type { CompletionValues, Page } from '../provider.ts';
import type { HeaderParameter } from '../schema/header-parameters.ts';

/** The features of the server. While it has not been reached, those that it may have. */
export interface ServerFeatures {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly completion: boolean;
  /** `false` where it does not tell when its tools, or prompts, change. */
  readonly toolChanges?: boolean | undefined;
  readonly promptChanges?: boolean | undefined;
  /** It declares skills. Not while it has not been reached. */
  readonly skills?: boolean | undefined;
  /** Folders can be listed by their URIs. */
  readonly directories?: boolean | undefined;
  /** `false` where it sends no log messages. */
  readonly logging?: boolean | undefined;
  /** The eras in which its tools may become tasks, as far as is known. */
  readonly tasks?: readonly Era[] | undefined;
}

export interface ToolPage {
  readonly tools: readonly ToolDescription[];
  readonly nextCursor?: string | undefined;
}

export interface PromptPage {
  readonly prompts: readonly PromptDescription[];
  readonly nextCursor?: string | undefined;
}

/** A call of a tool, or a prompt that is wanted: the request's params, with every field that came. */
export interface NamedRequest {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

/** The outcome of a call: a result, a question to the client, or a task that goes on. */
export type CallOutcome = CallToolResult | InputRequired | TaskStarted;

/** Something that is asked of a task, or told it. */
export interface TaskRequest {
  readonly method: TaskMethod;
  /** The tool that began it. */
  readonly name: string;
  /** As the server calls it. */
  readonly taskId: string;
}

/** Asks for values of one argument of a prompt. */
export interface PromptCompletion {
  readonly prompt: string;
  readonly argument: string;
  readonly value: string;
  readonly known: Readonly<Record<string, string>>;
}

export interface ServerSkillPage {
  readonly skills: readonly Skill[];
  readonly nextCursor?: string | undefined;
}

/** Lists that change. */
export type ServerList = 'tools' | 'prompts';

export interface MountedServer {
  readonly features: ServerFeatures;
  /** For the model: how it wants to be used. Undefined until it was reached, and where it says nothing. */
  readonly instructions?: string | undefined;
  /** @throws ResourceError `unavailable`, `timeout`, and what the server answers with, as a `PeerError` */
  listTools(page: Page, ctx: Context): Promise<ToolPage>;
  callTool(request: NamedRequest, invocation: Invocation): Promise<CallOutcome>;
  /**
   * A `Task`, the result of `tasks/result`, or an empty one.
   * @throws ResourceError `invalid` where the client's era has no such method there, and what the server answers with
   */
  askTask?(request: TaskRequest, invocation: Invocation): Promise<object>;
  /** Calls back when the server tells that the task has changed. */
  watchTask?(taskId: string, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  /** The arguments of a tool that HTTP clients repeat in headers. */
  headerParameters?(tool: string, ctx: Context): Promise<readonly HeaderParameter[]>;
  listPrompts(page: Page, ctx: Context): Promise<PromptPage>;
  getPrompt(request: NamedRequest, invocation: Invocation): Promise<GetPromptResult | InputRequired>;
  completePrompt(request: PromptCompletion, ctx: Context): Promise<CompletionValues>;
  listSkills?(page: Page, ctx: Context): Promise<ServerSkillPage>;
  /** @throws ResourceError what the server answers with, as a `PeerError`, and `invalid` for an entry that is none */
  getSkill?(uri: string, ctx: Context): Promise<Skill>;
  /** Calls back when the list has changed, or may have. */
  watch(list: ServerList, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  /** As that of a provider, for these lists. */
  heard?(list: ServerList): void;
}
