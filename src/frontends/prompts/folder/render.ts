/** Renders the nodes of a prompt and its arguments as messages, in order, each with one block of content. */
import type { Context } from '../../../core/context.ts';
import { ResourceError } from '../../../core/errors.ts';
import { type ContentBlock, type PromptMessage, text as textBlock } from '../../../protocol/content.ts';
import type { ResourceOptions } from '../../resources/options.ts';
import { embedResource } from './embed.ts';
import type { DeclaredArgument } from './head.ts';
import { MAX_EMBEDS, type Role, type TemplateNode } from './template.ts';

/** The most characters of text in one prompt, values included. */
export const MAX_TEXT_LENGTH = 1_048_576;

/**
 * Reads embedded resources with the caller's context, so that a prompt shows a caller no more than reads do (SEC-PROMPT-2).
 * All embedded resources together have at most `limits.maxReadBytes` bytes (SEC-PROMPT-3).
 */
export async function renderMessages(
  nodes: readonly TemplateNode[],
  declared: readonly DeclaredArgument[],
  values: Readonly<Record<string, string>>,
  resources: ResourceOptions,
  ctx: Context,
): Promise<readonly PromptMessage[]> {
  const messages: PromptMessage[] = [];
  let role: Role = 'user';
  let text = '';
  let bytes = resources.limits.maxReadBytes;
  let blocks = MAX_EMBEDS;
  let characters = 0;

  const addMessage = (content: ContentBlock): void => void messages.push({ role, content });
  const flush = (): void => {
    const trimmed = text.trim();
    text = '';
    characters += trimmed.length;
    if (characters > MAX_TEXT_LENGTH)
      throw new ResourceError('too-large', `The prompt has more than ${MAX_TEXT_LENGTH} characters; shorten a value`);
    if (trimmed !== '') addMessage(textBlock(trimmed));
  };

  for (const node of nodes) {
    switch (node.kind) {
      case 'text':
        text += node.text;
        break;
      case 'argument':
        text += argumentValue(values, node.name) ?? '';
        break;
      case 'role':
        flush();
        role = node.role;
        break;
      case 'resource': {
        if (!isWanted(node.uri.variables, declared, values)) break;
        flush();
        const embedded = await embedResource(node.uri.expand(values), { bytes, blocks }, resources, ctx);
        bytes -= embedded.bytes;
        blocks -= embedded.blocks.length;
        embedded.blocks.forEach(addMessage);
      }
    }
  }
  flush();
  return messages;
}

/** Returns false if the URI uses an optional argument without a value: the prompt then leaves the resource out. */
function isWanted(
  variables: readonly string[],
  declared: readonly DeclaredArgument[],
  values: Readonly<Record<string, string>>,
): boolean {
  return variables.every((name) => {
    const required = declared.some((argument) => argument.name === name && argument.required);
    return required || (argumentValue(values, name) ?? '') !== '';
  });
}

const argumentValue = (values: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;
