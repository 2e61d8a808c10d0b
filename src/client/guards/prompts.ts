/**
 * Guards the prompts of a server that is not trusted (SEC-PROMPT-4). Checks the roles, kinds of content, hidden characters and
 * size of each prompt, and shows the whole prompt to the user before the host uses it.
 */
import type { Client, GetPromptResult, RequestOptions } from '@modelcontextprotocol/client';
import { checkContents } from '../safety/contents.ts';
import { forTerminal, hasHiddenText } from '../safety/terminal.ts';
import { type Block, blocksOf, checkMedia, shownBlock, sizeOf } from './blocks.ts';
import { type Decisions, decisionsOf, type GuardOptions, runHook } from './decisions.ts';
import type { Flow } from './flow.ts';
import { flowOf } from './flowing.ts';
import { type SecretScan, secretsIn } from './secrets.ts';

/** A prompt that a user approves or refuses. The server wrote its description and messages. */
export interface PromptReview {
  readonly server: string | undefined;
  readonly name: string;
  /** The arguments that were sent to the server. */
  readonly arguments: Readonly<Record<string, string>>;
  /** Without escapes and hidden characters. */
  readonly description: string | undefined;
  /** As the server sent them. */
  readonly messages: GetPromptResult['messages'];
  /** All messages as lines to show, without escapes and hidden characters. */
  readonly transcript: string;
  /** Whether a text has characters that people do not see and a model reads. */
  readonly hiddenText: boolean;
  /** The bytes of all messages together, after decoding. */
  readonly bytes: number;
  readonly signal: AbortSignal | undefined;
}

/** Kinds of content that a prompt may have beside text. */
export type PromptContentKind = 'image' | 'audio' | 'resource' | 'resource_link';

export interface PromptOptions extends GuardOptions {
  /** Asks the user for consent to a prompt, once the whole prompt has arrived. Without this function no prompt is used. */
  readonly approve?: (review: PromptReview) => boolean | Promise<boolean>;
  /**
   * The roles that messages of a prompt may have; only `user` by default. A model takes a message of `assistant` for its own
   * answer, so allow this role only for servers that you trust.
   */
  readonly roles?: readonly ('user' | 'assistant')[];
  /** Kinds of content beside text; `resource` and `resource_link` by default. */
  readonly kinds?: readonly PromptContentKind[];
  /** How hidden characters are handled: `refuse`, the default, or `ask`, which leaves them to `approve`. */
  readonly hiddenText?: 'refuse' | 'ask';
  /** The most messages of a prompt; 100 by default. */
  readonly maxMessages?: number;
  /** The most bytes of all messages together, after decoding; 256 KiB by default. */
  readonly maxBytes?: number;
  /** How arguments that look like secrets are handled before they are sent: `refuse`, the default, or `send`. */
  readonly secrets?: 'refuse' | 'send';
  /** Searches an argument for secrets, in the place of the guard's own search. */
  readonly scan?: SecretScan;
  /** Remembers the sources of the data in prompts. Needs `server`. */
  readonly flow?: Flow;
}

export interface PromptGuard {
  /** Returns the prompt if it is within the limits and the user approves it. @throws GuardRefusal */
  getPrompt(
    params: { readonly name: string; readonly arguments?: Readonly<Record<string, string>> },
    options?: RequestOptions,
  ): Promise<GetPromptResult>;
}

const DEFAULT_KINDS: readonly PromptContentKind[] = ['resource', 'resource_link'];

/**
 * Guards the prompts of a server. Use its `getPrompt` in the place of the client's own.
 *
 * @example
 * const prompts = guardPrompts(client, { server: 'notes', approve: ({ transcript }) => askUser(transcript) });
 * const { messages } = await prompts.getPrompt({ name: 'summary', arguments: { topic: 'tides' } });
 */
export function guardPrompts(client: Client, options: PromptOptions = {}): PromptGuard {
  const { server, approve, scan, secrets = 'refuse', hiddenText = 'refuse' } = options;
  const decisions = decisionsOf('prompts', options);
  const flow = flowOf(options);

  return {
    async getPrompt({ name, arguments: given = {} }, requestOptions) {
      const { signal } = requestOptions ?? {};
      // A copy: the user sees the arguments that were sent, even if the caller changes its object meanwhile.
      const sent = structuredClone(given);
      const found = await runHook(decisions, () => secretsIn(sent, scan));
      if (found.length > 0 && secrets === 'refuse')
        return decisions.refuse('secrets', { subject: name, details: { found } });
      const prompt = await client.getPrompt({ name, arguments: sent }, requestOptions);
      const { description, messages } = prompt;
      const bytes = await checkMessages(messages, name, options, decisions);
      const hidden = [description ?? '', ...messages.flatMap(({ content }) => blocksOf(content).flatMap(textsOf))];
      const isHiding = hidden.some(hasHiddenText);
      if (isHiding && hiddenText === 'refuse') return decisions.refuse('hidden-text', { subject: name });
      if (approve === undefined) return decisions.refuse('no-consent', { subject: name });
      const review: PromptReview = {
        server,
        name,
        arguments: sent,
        description: description && forTerminal(description, { lines: true, maxLength: 16_384 }),
        messages: structuredClone(messages),
        transcript: messages
          .map(({ role, content }) => `${role}: ${blocksOf(content).map(shownBlock).join('\n')}`)
          .join('\n\n'),
        hiddenText: isHiding,
        bytes,
        signal,
      };
      if ((await runHook(decisions, () => approve(review), signal)) !== true)
        return decisions.refuse('declined', { subject: name });
      decisions.allowed('used', { subject: name, details: { bytes, hiddenText: isHiding } });
      flow?.took(messages.flatMap(({ content }) => blocksOf(content)));
      return prompt;
    },
  };
}

/** @returns the bytes of all messages @throws GuardRefusal for a message that is not allowed, or for too many or too large ones */
async function checkMessages(
  messages: GetPromptResult['messages'],
  subject: string,
  { roles = ['user'], kinds = DEFAULT_KINDS, maxMessages = 100, maxBytes = 256 * 1024 }: PromptOptions,
  decisions: Decisions,
): Promise<number> {
  if (messages.length > maxMessages)
    return decisions.refuse('messages', { subject, details: { messages: messages.length, maxMessages } });
  const blocks: Block[] = [];
  let bytes = 0;
  for (const { role, content } of messages) {
    if (!roles.includes(role)) return decisions.refuse('role', { subject, details: { role } });
    for (const block of blocksOf(content)) {
      if (block.type !== 'text' && !kinds.includes(block.type as PromptContentKind))
        return decisions.refuse('content-kind', { subject, details: { kind: block.type.slice(0, 50) } });
      bytes += sizeOf(block);
      blocks.push(block);
    }
  }
  if (bytes > maxBytes) return decisions.refuse('too-large', { subject, details: { bytes, maxBytes } });
  for (const block of blocks) {
    if (block.type === 'image' || block.type === 'audio') await checkMedia(block, maxBytes, decisions);
    if (block.type !== 'resource') continue;
    const checked = await checkContents(block.resource as object, { maxBytes }).catch(() => undefined);
    if (checked === undefined || checked.problems.length > 0) return decisions.refuse('content-type', { subject });
  }
  return bytes;
}

/** Returns all texts of a block, because a model may get any of them. Base64 is among them, but has no hidden characters. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
