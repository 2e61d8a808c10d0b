/**
 * Guards the tools of a server that is not trusted (SEC-TOOL-4). Each definition is approved once and pinned, and a change is
 * detected before the next call. The arguments of each call are searched for secrets and confirmed.
 */
import type { CallToolResult, Client, RequestOptions, Tool } from '@modelcontextprotocol/client';
import { changedFields, pinOf, type ToolPin } from '../../core/fingerprint.ts';
import { forTerminal, hasHiddenText } from '../safety/terminal.ts';
import { decisionsOf, type GuardOptions, runHook } from './decisions.ts';
import type { Flow } from './flow.ts';
import { flowOf } from './flowing.ts';
import type { PinStore } from './pins.ts';
import { type SecretFinding, type SecretScan, secretsIn } from './secrets.ts';
import { listDefinitions, type ToolDefinition } from './tool-list.ts';

/** A tool definition that a user approves or refuses. The server wrote all of it, and nothing proves its annotations. */
export interface ToolReview {
  readonly server: string | undefined;
  readonly name: string;
  /** Without escapes and hidden characters. */
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** As the server sends it. */
  readonly definition: ToolDefinition;
  readonly status: 'new' | 'changed';
  /** Fields that differ from the approved definition. */
  readonly changes: readonly string[];
  /** Whether title, description or input schema have characters that people do not see and a model reads. */
  readonly hiddenText: boolean;
  readonly pin: ToolPin;
}

/** A call that a user confirms or declines. */
export interface CallReview {
  readonly server: string | undefined;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Places in the arguments that look like secrets. */
  readonly secrets: readonly SecretFinding[];
  readonly definition: ToolDefinition;
  readonly signal: AbortSignal | undefined;
}

export interface ToolOptions extends GuardOptions {
  /** Approves a definition that is new or has changed. Without it, only tools that fit their pin can be called. */
  readonly approve?: (review: ToolReview) => boolean | Promise<boolean>;
  /** Confirms each call: `true` sends the arguments as they are, an object sends its own. Without it no call is made. */
  readonly confirm?: (
    review: CallReview,
  ) =>
    | boolean
    | { arguments: Readonly<Record<string, unknown>> }
    | Promise<boolean | { arguments: Readonly<Record<string, unknown>> }>;
  /** `refuse`, the default, refuses calls with arguments that look like secrets. `ask` leaves them to `confirm`. */
  readonly secrets?: 'refuse' | 'ask';
  /** Searches a text for secrets, in the place of the guard's own search. */
  readonly scan?: SecretScan;
  /** The store of pins; in memory by default. */
  readonly pins?: PinStore;
  /** Milliseconds for which a list of definitions is used. 0 by default: each call asks for the definitions first. */
  readonly maxAgeMs?: number;
  /** The most bytes of arguments, as JSON; 1 MiB by default. */
  readonly maxArgumentBytes?: number;
  /** Checks each call by the sources that the conversation has read, and remembers the sources in its result. Needs `server`. */
  readonly flow?: Flow;
}

/** A tool for the host, with its texts made safe to show. */
export interface GuardedTool {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly inputSchema: unknown;
  /** The server's claims about the tool. The guard decides nothing by them, and the host should not either. */
  readonly untrustedAnnotations: unknown;
  readonly status: 'new' | 'approved' | 'changed';
}

export interface ToolGuard {
  /** Lists all tools of the server, and whether each is approved. Calls neither `approve` nor `confirm`. */
  listTools(options?: RequestOptions): Promise<readonly GuardedTool[]>;
  /** Calls a tool once its definition is approved and the arguments are confirmed. @throws GuardRefusal */
  callTool(
    params: { readonly name: string; readonly arguments?: Readonly<Record<string, unknown>> },
    options?: RequestOptions,
  ): Promise<CallToolResult>;
}

/**
 * Puts a guard before the tools of a server. Use it in the place of the client's own `listTools` and `callTool`. Each server
 * needs a guard of its own, since two servers can have different tools of the same name.
 *
 * @example
 * const tools = guardTools(client, { server: 'notes', approve: askAboutTool, confirm: askAboutCall });
 * const result = await tools.callTool({ name: 'search', arguments: { query: 'tides' } });
 */
export function guardTools(client: Client, options: ToolOptions = {}): ToolGuard {
  const { server, approve, confirm, scan, secrets = 'refuse', pins = new Map<string, ToolPin>() } = options;
  const { maxAgeMs = 0, maxArgumentBytes = 1024 * 1024 } = options;
  const decisions = decisionsOf('tools', options);
  const flow = flowOf(options);
  let cached: { readonly at: number; readonly definitions: readonly ToolDefinition[] } | undefined;

  async function definitions(
    requestOptions: RequestOptions | undefined,
    maxAge: number,
  ): Promise<readonly ToolDefinition[]> {
    if (cached === undefined || performance.now() - cached.at >= maxAge) {
      cached = { at: performance.now(), definitions: await listDefinitions(client, decisions, requestOptions) };
    }
    return cached.definitions;
  }

  async function reviewOf(definition: ToolDefinition): Promise<ToolReview & { readonly approved: boolean }> {
    const { name, title, description } = definition;
    const pin = await pinOf(definition);
    const before = await pins.get(name);
    const shown = (text: unknown): string | undefined =>
      typeof text === 'string' ? forTerminal(text, { lines: true, maxLength: 16_384 }) : undefined;
    return {
      server,
      name,
      title: shown(title),
      description: shown(description),
      definition,
      status: before === undefined ? 'new' : 'changed',
      changes: before === undefined ? [] : changedFields(before, pin),
      hiddenText: [title, description, JSON.stringify(definition.inputSchema ?? '')].some(
        (text) => typeof text === 'string' && hasHiddenText(text),
      ),
      pin,
      approved: before?.hash === pin.hash,
    };
  }

  /** Returns the current definition of the tool, after an approval where it needs one. @throws GuardRefusal */
  async function approved(name: string, requestOptions: RequestOptions | undefined): Promise<ToolDefinition> {
    const named = (await definitions(requestOptions, maxAgeMs)).filter((tool) => tool.name === name);
    const [definition] = named;
    if (definition === undefined) return decisions.refuse('unknown-tool', { subject: name });
    if (named.length > 1) return decisions.refuse('ambiguous-tool', { subject: name });
    const { approved: isApproved, ...review } = await reviewOf(definition);
    if (isApproved) return definition;
    const { status, changes, hiddenText } = review;
    if (status === 'changed') decisions.changed('definition', { subject: name, details: { fields: changes } });
    if (approve === undefined) return decisions.refuse('not-approved', { subject: name });
    if ((await runHook(decisions, () => approve(review), requestOptions?.signal)) !== true) {
      return decisions.refuse('not-approved', { subject: name });
    }
    decisions.allowed('approved', { subject: name, details: { status, hiddenText } });
    await runHook(decisions, async () => void (await pins.set(name, review.pin)));
    return definition;
  }

  async function checkedArguments(
    name: string,
    given: Readonly<Record<string, unknown>>,
  ): Promise<readonly SecretFinding[]> {
    const size = new TextEncoder().encode(JSON.stringify(given)).byteLength;
    if (size > maxArgumentBytes) return decisions.refuse('arguments-too-large', { subject: name, details: { size } });
    const found = await runHook(decisions, () => secretsIn(given, scan));
    if (found.length > 0 && secrets === 'refuse') {
      return decisions.refuse('secrets', { subject: name, details: { found } });
    }
    return found;
  }

  return {
    async listTools(requestOptions) {
      const all = await definitions(requestOptions, 0);
      return await Promise.all(
        all.map(async (definition) => {
          const { name, title, description, status, approved: isApproved } = await reviewOf(definition);
          const { inputSchema, annotations } = definition;
          return {
            name,
            title,
            description,
            inputSchema,
            untrustedAnnotations: annotations,
            status: isApproved ? 'approved' : status,
          } as const;
        }),
      );
    },

    async callTool({ name, arguments: given = {} }, requestOptions) {
      const { signal } = requestOptions ?? {};
      const definition = await approved(name, requestOptions);
      // A copy: the arguments that were shown are sent, even if the caller changes its object meanwhile.
      const copy = structuredClone(given);
      const found = await checkedArguments(name, copy);
      if (confirm === undefined) return decisions.refuse('no-confirmation', { subject: name });
      const review: CallReview = { server, name, arguments: structuredClone(copy), secrets: found, definition, signal };
      const answer = await runHook(decisions, () => confirm(review), signal);
      if (answer === false || answer === undefined || answer === null)
        return decisions.refuse('declined', { subject: name });
      const sent = answer === true ? copy : structuredClone(answer.arguments);
      if (answer !== true) {
        decisions.changed('arguments', { subject: name });
        await checkedArguments(name, sent);
      }
      await flow?.check(name, signal);
      decisions.allowed('called', { subject: name });
      // The SDK validates the result, and makes headers out of arguments, by the definition that was approved.
      const result = await client.callTool(
        { name, arguments: sent },
        { ...requestOptions, toolDefinition: definition as unknown as Tool },
      );
      flow?.took(result.content);
      return result;
    },
  };
}
