/** Prompts: messages that a user picks, with arguments. */
import type { GetPromptResult, PromptDescription } from '../protocol/content.ts';
import type { InputRequired } from '../protocol/input-required.ts';
import type { Context } from './context.ts';
import { invalid, type ResourceError } from './errors.ts';
import type { Invocation } from './invocation.ts';
import type { ResourceProvider } from './provider.ts';

/** A prompt as `prompts/list` shows it, and the function that makes its messages. */
export interface Prompt extends PromptDescription {
  /** Makes the messages. The arguments are declared, complete, bounded, and free of control characters (SEC-PROMPT-1). */
  readonly get: (
    args: Readonly<Record<string, string>>,
    invocation: Invocation,
  ) => GetPromptResult | InputRequired | Promise<GetPromptResult | InputRequired>;
  /** Returns values of one argument that begin with the typed text. */
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
  /** The mount that its prompts belong to, if any: rules about the mount apply to them. */
  readonly mount?: string | undefined;
  list(ctx: Context): Promise<readonly Prompt[]>;
  /** Names of prompts that the source always has. The prefix of a mounted server must not be the beginning of one of them. */
  readonly names?: readonly string[] | undefined;
  /** Calls back when the list may have changed. */
  watch?(onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  close?(): Promise<void>;
}

/** Prompts in a folder of Markdown files, whose format is described in `docs/guide/prompts.md`. */
export interface PromptFolder {
  /** The URI of the folder: a published one, or one of `provider`. */
  readonly uri: string;
  /** Reads the folder's files, where they are not served as resources themselves; closed with the engine. */
  readonly provider?: ResourceProvider | undefined;
  /** Whether clients are notified of changes. Default: where the provider can watch. */
  readonly watch?: boolean | undefined;
}

/** Defines a prompt. Its arguments are checked when it is used. */
export function definePrompt(prompt: Prompt): Prompt {
  if (prompt.name === '') throw new TypeError('A prompt needs a name');
  return prompt;
}

/** The error for a prompt that does not exist, or that the caller must not know of. */
export const noSuchPrompt = (name: string): ResourceError =>
  invalid(`There is no prompt named ${JSON.stringify(name)}; prompts/list has them`);
