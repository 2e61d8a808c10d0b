/** Declares what a mounted server offers beside resources: tools, prompts, skills and tasks, under its own names and URIs. */
import type { CallToolResult, GetPromptResult, PromptDescription, ToolDescription } from '../../protocol/content.ts';
import type { Era } from '../../protocol/era.ts';
import type { InputRequired } from '../../protocol/input-required.ts';
import type { Skill } from '../../protocol/skills.ts';
import type { TaskMethod, TaskStarted } from '../../protocol/tasks.ts';
import type { Context } from '../context.ts';
import type { Invocation } from '../invocation.ts';
import type { CompletionValues, Page } from '../provider.ts';
import type { HeaderParameter } from '../schema/header-parameters.ts';

/** The features of the server. Until it has been reached, they are the features that it may have. */
export interface ServerFeatures {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly completion: boolean;
  /** `false` if it does not notify of changes of its tools. */
  readonly toolChanges?: boolean | undefined;
  /** `false` if it does not notify of changes of its prompts. */
  readonly promptChanges?: boolean | undefined;
  /** Whether it declares skills; `false` until it has been reached. */
  readonly skills?: boolean | undefined;
  /** Whether its folders can be listed by their URIs. */
  readonly directories?: boolean | undefined;
  /** `false` if it sends no log messages. */
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

/** The `params` of a request for a tool or a prompt, with every field that the client sent. */
export interface NamedRequest {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

/** The outcome of a call: a result, a question to the client, or a task that goes on. */
export type CallOutcome = CallToolResult | InputRequired | TaskStarted;

/** A request about a task: for its state or its result, with answers to its questions, or to cancel it. */
export interface TaskRequest {
  readonly method: TaskMethod;
  /** The tool that began the task. */
  readonly name: string;
  /** The identifier that the mounted server gave the task. */
  readonly taskId: string;
}

/** Asks for values of one argument of a prompt. */
export interface PromptCompletion {
  readonly prompt: string;
  readonly argument: string;
  /** The beginning of the value, as far as it is typed. */
  readonly value: string;
  /** The arguments that already have a value. */
  readonly known: Readonly<Record<string, string>>;
}

export interface ServerSkillPage {
  readonly skills: readonly Skill[];
  readonly nextCursor?: string | undefined;
}

/** The lists of a mounted server that can be watched. */
export type ServerList = 'tools' | 'prompts';

export interface MountedServer {
  readonly features: ServerFeatures;
  /** The server's instructions for the model. Undefined until the server has been reached, and if it gives none. */
  readonly instructions?: string | undefined;
  /** @throws ResourceError `unavailable`, `timeout`, and errors that the server answers with, as `PeerError` */
  listTools(page: Page, ctx: Context): Promise<ToolPage>;
  callTool(request: NamedRequest, invocation: Invocation): Promise<CallOutcome>;
  /**
   * Returns a `Task`, the result of `tasks/result`, or an empty result.
   * @throws ResourceError `invalid` if the server has no such method in the client's era, and errors that the server answers with
   */
  askTask?(request: TaskRequest, invocation: Invocation): Promise<object>;
  /** Calls back whenever the server says that the task has changed. */
  watchTask?(taskId: string, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  /** Returns the arguments of a tool that HTTP clients repeat in headers. */
  headerParameters?(tool: string, ctx: Context): Promise<readonly HeaderParameter[]>;
  listPrompts(page: Page, ctx: Context): Promise<PromptPage>;
  getPrompt(request: NamedRequest, invocation: Invocation): Promise<GetPromptResult | InputRequired>;
  completePrompt(request: PromptCompletion, ctx: Context): Promise<CompletionValues>;
  listSkills?(page: Page, ctx: Context): Promise<ServerSkillPage>;
  /** @throws ResourceError `invalid` for an answer that is no valid entry of a skill, and errors of the server as `PeerError` */
  getSkill?(uri: string, ctx: Context): Promise<Skill>;
  /** Calls back whenever the list has changed or may have changed. */
  watch(list: ServerList, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  /** Does for these lists what `ResourceProvider.heard` does for resources. */
  heard?(list: ServerList): void;
}
