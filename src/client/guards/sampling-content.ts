/** Checks the kinds, sizes and types of content in a sampling request and in its answer (SEC-SAMP-1). */
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
} from '@modelcontextprotocol/client';
import { utf8Size } from '../base64.ts';
import { forTerminal } from '../safety/terminal.ts';
import { type Block, blocksOf, checkMedia, shownBlock, sizeOf } from './blocks.ts';
import type { Decisions } from './decisions.ts';

/** The content that sampling requests and answers may have. */
export interface SamplingContentLimits {
  /** The kinds of content, beside text, that a request and an answer may have; none by default. */
  readonly kinds?: readonly ('image' | 'audio')[];
  /** Whether the server may offer tools to the model, and the model may call them; false by default. */
  readonly tools?: boolean;
  /** The most context that the server may ask the host to add; `none` by default. A wish for more is cut down to this. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers';
  /** The most messages of a request; 100 by default. */
  readonly maxMessages?: number;
  /** The most bytes of all messages, system prompt and tools, and of an answer, after decoding; 256 KiB by default. */
  readonly maxBytes?: number;
}

type Params = CreateMessageRequestParams;
type Result = CreateMessageResult | CreateMessageResultWithTools;

const CONTEXT = ['none', 'thisServer', 'allServers'] as const;
const MAX_HINTS = 10;

/** Refuses a request with content that is not allowed, and returns the request with harmless preferences. @throws GuardRefusal */
export function checkedRequest(
  params: Params,
  limits: SamplingContentLimits | undefined,
  decisions: Decisions,
): Params {
  const { maxMessages = 100, maxBytes = 256 * 1024, tools = false, includeContext = 'none' } = limits ?? {};
  const messages: readonly { readonly role: string; readonly content: unknown }[] = Array.isArray(params?.messages)
    ? params.messages
    : decisions.refuse('messages', { invalid: true });
  if (messages.length === 0 || messages.length > maxMessages) decisions.refuse('messages', { invalid: true });
  if (!Number.isSafeInteger(params.maxTokens) || params.maxTokens < 1)
    decisions.refuse('max-tokens', { invalid: true });
  if (!tools && (params.tools !== undefined || params.toolChoice !== undefined))
    decisions.refuse('tools', { invalid: true });
  let bytes = utf8Size(params.systemPrompt ?? '') + utf8Size(JSON.stringify(params.tools ?? ''));
  for (const { role, content } of messages) {
    if (role !== 'user' && role !== 'assistant') decisions.refuse('role', { invalid: true });
    for (const block of blocksOf(content)) {
      checkKind(block, limits, decisions);
      bytes += sizeOf(block);
    }
  }
  if (bytes > maxBytes) decisions.refuse('too-large', { invalid: true, details: { bytes, maxBytes } });
  return withHarmlessPreferences(params, includeContext, decisions);
}

/** Makes the preferences of a request harmless. They are only wishes, so they are never a reason to refuse it. */
function withHarmlessPreferences(params: Params, most: (typeof CONTEXT)[number], decisions: Decisions): Params {
  const { includeContext, modelPreferences, ...rest } = params;
  const wanted = CONTEXT.indexOf(includeContext ?? 'none');
  const over = wanted > CONTEXT.indexOf(most);
  if (over) decisions.changed('context', { details: { wanted: includeContext } });
  const allowed = over ? (most === 'none' ? undefined : most) : includeContext;
  const priority = (value: unknown): number | undefined =>
    typeof value === 'number' && value >= 0 ? Math.min(value, 1) : undefined;
  const hints = modelPreferences?.hints
    ?.slice(0, MAX_HINTS)
    .map(({ name }) => ({ name: forTerminal(name ?? '', { maxLength: 200 }) }));
  const costPriority = priority(modelPreferences?.costPriority);
  const speedPriority = priority(modelPreferences?.speedPriority);
  const intelligencePriority = priority(modelPreferences?.intelligencePriority);
  return {
    ...rest,
    ...(allowed !== undefined && { includeContext: allowed }),
    ...(modelPreferences !== undefined && {
      modelPreferences: {
        ...(hints !== undefined && { hints }),
        ...(costPriority !== undefined && { costPriority }),
        ...(speedPriority !== undefined && { speedPriority }),
        ...(intelligencePriority !== undefined && { intelligencePriority }),
      },
    }),
  };
}

/** Checks the kinds of an answer, its size, and the types of its media, and returns it. @throws GuardRefusal */
export async function checkedResult(
  result: Result,
  limits: SamplingContentLimits | undefined,
  decisions: Decisions,
): Promise<Result> {
  const { maxBytes = 256 * 1024 } = limits ?? {};
  if (result?.role !== 'assistant' || typeof result.model !== 'string') decisions.refuse('result');
  const blocks = blocksOf(result.content);
  const bytes = blocks.reduce((total, block) => total + sizeOf(block), 0);
  if (bytes > maxBytes) decisions.refuse('result-too-large', { details: { bytes, maxBytes } });
  for (const block of blocks) {
    checkKind(block, limits, decisions);
    if (block.type === 'image' || block.type === 'audio') await checkMedia(block, maxBytes, decisions);
  }
  return result;
}

/** Checks that the media of a request have the types that they claim. Call it after `checkedRequest`. @throws GuardRefusal */
export async function checkRequestMedia(
  params: Params,
  limits: SamplingContentLimits | undefined,
  decisions: Decisions,
): Promise<void> {
  const { maxBytes = 256 * 1024 } = limits ?? {};
  const media = params.messages
    .flatMap(({ content }) => blocksOf(content))
    .filter(({ type }) => type === 'image' || type === 'audio');
  for (const block of media) await checkMedia(block, maxBytes, decisions);
}

function checkKind(
  block: Block,
  { kinds = [], tools = false }: SamplingContentLimits = {},
  decisions: Decisions,
): void {
  switch (block.type) {
    case 'text':
      if (typeof block.text === 'string') return;
      break;
    case 'image':
    case 'audio':
      if (kinds.includes(block.type) && typeof block.data === 'string') return;
      break;
    case 'tool_use':
    case 'tool_result':
      if (tools) return;
      break;
  }
  decisions.refuse('content-kind', { invalid: true, details: { kind: String(block.type).slice(0, 50) } });
}

/** Writes a request as lines for a user: the role and text of each message, without escapes and hidden characters. */
export function transcriptOf(params: Params): string {
  const system =
    params.systemPrompt === undefined ? [] : [`system: ${forTerminal(params.systemPrompt, { lines: true })}`];
  const messages = params.messages.map(
    ({ role, content }) => `${role}: ${blocksOf(content).map(shownBlock).join('\n')}`,
  );
  return [...system, ...messages].join('\n\n');
}
