/** Prompts: messages that a user picks, with arguments filled in. */
import type { GetPromptResult, PromptDescription } from '../protocol/content.ts';
import type { InputRequired } from '../protocol/input-required.ts';
import type { Context } from './context.ts';
import { invalid, type ResourceError } from './errors.ts';
import type { Invocation } from './invocation.ts';
import type { ResourceProvider } from './provider.ts';

/** A prompt as `prompts/list` shows it, and how it is made. */
export interface Prompt extends PromptDescription {
  /** Gets arguments that are declared, complete where required, bounded, and free of control characters (SEC-PROMPT-1). */
  readonly get: (
    args: Readonly<Record<string, string>>,
    invocation: Invocation,
  ) => GetPromptResult | InputRequired | Promise<GetPromptResult | InputRequired>;
  /** Values of one argument that begin with what was typed. */
  readonly complete?:
    | ((
        argument: string,
        value: string,
        known: Readonly<Record<string, string>>,
        ctx: Context,
      ) => readonly string[] | Promise<readonly string[]>)
    | undefined;
}

/** The source of prompts: a fixed list, or a folder that changes. */
export interface PromptSource {
  /** The mount that its prompts belong to, where they lie in one: what rules say of the mount holds for them. */
  readonly mount?: string | undefined;
  list(ctx: Context): Promise<readonly Prompt[]>;
  /** Names that are always in the list, as far as there are such. */
  readonly names?: readonly string[] | undefined;
  /** Calls back when the list may have changed. */
  watch?(onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  close?(): Promise<void>;
}

/** Prompts in a folder of Markdown files, whose format is described in `docs/guide/prompts.md`. */
export interface PromptFolder {
  /** The URI of the folder: a published one, or one of `provider`. */
  readonly uri: string;
  /** The provider that reads its files, if they are not to be served as resources themselves; closed with the engine. */
  readonly provider?: ResourceProvider | undefined;
  /** Tells about changes. Default: where the provider can. */
  readonly watch?: boolean | undefined;
}

/** Defines a prompt; it is checked as it is used. */
export function definePrompt(prompt: Prompt): Prompt {
  if (prompt.name === '') throw new TypeError('A prompt needs a name');
  return prompt;
}

/** The answer to a request for what is not there, or must look like it. */
export const noSuchPrompt = (name: string): ResourceError =>
  invalid(`There is no prompt named ${JSON.stringify(name)}; prompts/list has them`);
