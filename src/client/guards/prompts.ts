/**
 * Prompts of a server that is not trusted (SEC-PROMPT-4): each is checked for its roles, kinds of content, hidden characters
 * and size, and shown whole to the user before the host uses it.
 */
import type { Client, GetPromptResult, RequestOptions } from '@modelcontextprotocol/client';
import { checkContents } from '../safety/contents.ts';
import { forTerminal, hasHiddenText } from '../safety/terminal.ts';
import { type Block, blocksOf, checkMedia, shownBlock, sizeOf } from './blocks.ts';
import { asked, type Decisions, decisionsOf, type GuardOptions } from './decisions.ts';
import type { Flow } from './flow.ts';
import { flowOf } from './flowing.ts';
import { type SecretScan, secretsIn } from './secrets.ts';

/** A prompt that a user decides about. All of it is the server's word. */
export interface PromptReview {
  readonly server: string | undefined;
  readonly name: string;
  /** The arguments that the server made the prompt of. */
  readonly arguments: Readonly<Record<string, string>>;
  /** Without escapes and hidden characters. */
  readonly description: string | undefined;
  /** As the server sent them. */
  readonly messages: GetPromptResult['messages'];
  /** All messages as lines to show, without escapes and hidden characters. */
  readonly transcript: string;
  /** A text has characters that a reader does not see and a model does. */
  readonly hiddenText: boolean;
  /** Of all messages together, after decoding. */
  readonly bytes: number;
  readonly signal: AbortSignal | undefined;
}

/** Kinds of content that a prompt may have beside text. */
export type PromptContentKind = 'image' | 'audio' | 'resource' | 'resource_link';

export interface PromptOptions extends GuardOptions {
  /** Consent to use a prompt, asked once all of it is there. Without it no prompt is used. */
  readonly approve?: (review: PromptReview) => boolean | Promise<boolean>;
  /**
   * The roles that messages of a prompt may have; `user` alone by default. A message of `assistant` passes for an answer that the
   * model gave, so allow it only for servers that you trust.
   */
  readonly roles?: readonly ('user' | 'assistant')[];
  /** Kinds of content beside text; `resource` and `resource_link` by default. */
  readonly kinds?: readonly PromptContentKind[];
  /** How hidden characters are handled: `refuse`, the default, or `ask`, which leaves them to `approve`. */
  readonly hiddenText?: 'refuse' | 'ask';
  /** Messages of a prompt; 100 by default. */
  readonly maxMessages?: number;
  /** Bytes of all messages together, after decoding; 256 KiB by default. */
  readonly maxBytes?: number;
  /** How arguments that look like secrets are handled before they are sent: `refuse`, the default, or `send`. */
  readonly secrets?: 'refuse' | 'send';
  /** In the place of the guard's own look at arguments for secrets. */
  readonly scan?: SecretScan;
  /** Remembers what prompts give. Needs `server`. */
  readonly flow?: Flow;
}

export interface PromptGuard {
  /** Returns the prompt, once it is within the bounds and approved. @throws GuardRefusal */
  getPrompt(
    params: { readonly name: string; readonly arguments?: Readonly<Record<string, string>> },
    options?: RequestOptions,
  ): Promise<GetPromptResult>;
}

const DEFAULT_KINDS: readonly PromptContentKind[] = ['resource', 'resource_link'];

/**
 * The prompts of a server behind a guard. Use it in the place of the client's own `getPrompt`.
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
      // A copy: what is shown is what was sent, whatever becomes of the caller's object meanwhile.
      const sent = structuredClone(given);
      const found = await asked(decisions, () => secretsIn(sent, scan));
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
      if ((await asked(decisions, () => approve(review), signal)) !== true)
        return decisions.refuse('declined', { subject: name });
      decisions.allowed('used', { subject: name, details: { bytes, hiddenText: isHiding } });
      flow?.took(messages.flatMap(({ content }) => blocksOf(content)));
      return prompt;
    },
  };
}

/** @returns the bytes of all messages @throws GuardRefusal where a message must not be in a prompt, or there is too much of them */
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

/** Returns all texts of a block, which a model may be shown. Base64 counts as a text, too: it has no hidden characters. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
