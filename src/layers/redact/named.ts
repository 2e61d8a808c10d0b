/**
 * Covers secrets in the descriptions and results of tools and prompts. Results of mounted servers have no URIs, so all
 * of them are scanned. Prompts are scanned too, except for resources in them that the settings exclude. Vitrine's own
 * tools read through this layer.
 */

import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ProviderOverrides } from '../../core/layer.ts';
import type { Named, NamedPage, Operations } from '../../core/operations.ts';
import { noSuchPrompt } from '../../core/prompt.ts';
import type { GetPromptResult, PromptMessage } from '../../protocol/content.ts';
import { isInputRequired } from '../../protocol/input-required.ts';
import { counted, refused } from './bodies.ts';
import { CALLED_BY, type LabelOptions, shownEach, shownEntries, shownValues } from './labels.ts';
import type { Asker } from './scanner.ts';
import { lookThrough, MAX_LEVELS } from './texts.ts';

export interface NamedOptions extends LabelOptions {
  /** Whether a resource is scanned. Other resources in prompts stay unchanged. */
  readonly concerns: (uri: string) => boolean;
}

export function redactedNames(inner: Operations, options: NamedOptions): ProviderOverrides {
  // An override of an optional operation counts only if `inner` has the operation.
  const has = inner as Required<Operations>;
  return {
    async listTools(page, ctx) {
      const { items, ...rest } = await has.listTools(page, ctx);
      return { ...rest, items: await shownNamed(items, ({ owner }) => owner.foreign === true, options, ctx) };
    },
    async callTool(request, owner, invocation) {
      const result = await has.callTool(request, owner, invocation);
      return owner.foreign === true ? redactedResult(result, options, invocation) : result;
    },
    async askTask(request, owner, invocation) {
      return redactedResult(await has.askTask(request, owner, invocation), options, invocation);
    },
    async listPrompts(page, ctx) {
      const { items, ...rest } = await has.listPrompts(page, ctx);
      return { ...rest, items: await shownNamed(items, () => true, options, ctx) };
    },
    async getPrompt(request, owner, invocation) {
      const { name } = request;
      // A prompt that is left out of the list cannot be used either.
      if (owner.foreign !== true && (await shownEntries([{ name }], CALLED_BY.name, options, invocation)).length === 0)
        throw noSuchPrompt(name);
      const result = await has.getPrompt(request, owner, invocation);
      if (owner.foreign === true || isInputRequired(result)) return redactedResult(result, options, invocation);
      return redactedMessages(result, options, invocation);
    },
    async completePrompt(request, owner, ctx) {
      const completed = await has.completePrompt(request, owner, ctx);
      return shownValues(completed, Number.POSITIVE_INFINITY, options, ctx);
    },
  };
}

/** Returns the entries with their secrets covered. An entry with a secret in its name is left out. */
async function shownNamed<T extends object>(
  items: NamedPage<T>['items'],
  isScanned: (entry: Named<T>) => boolean,
  options: LabelOptions,
  ctx: Context,
): Promise<NamedPage<T>['items']> {
  const entries = items.filter(isScanned).map(({ described }) => described);
  const shown = (await shownEach(entries, CALLED_BY.name, options, ctx))[Symbol.iterator]();
  return items.flatMap((entry) => {
    if (!isScanned(entry)) return [entry];
    const described = shown.next().value;
    return described === undefined ? [] : [{ ...entry, described }];
  });
}

async function redactedMessages(
  result: GetPromptResult,
  options: NamedOptions,
  asker: Asker,
): Promise<GetPromptResult> {
  const isExcepted = ({ content }: PromptMessage): boolean =>
    content.type === 'resource' && !options.concerns(content.resource.uri);
  const scanned = result.messages.filter((message) => !isExcepted(message));
  const redacted = await redactedResult({ ...result, messages: scanned }, options, asker);
  const messages = redacted.messages[Symbol.iterator]();
  return {
    ...redacted,
    messages: result.messages.map((message) => (isExcepted(message) ? message : (messages.next().value ?? message))),
  };
}

const NOTHING: ReadonlySet<string> = new Set();

/**
 * Returns the result of a tool or a prompt, with its secrets covered.
 * @throws ResourceError `denied` if results with secrets are refused, `too-large`, and the errors of the scan
 */
async function redactedResult<T extends object>(result: T, options: LabelOptions, asker: Asker): Promise<T> {
  // The client sends `requestState` and `taskId` back to the server, so they stay unchanged.
  const { requestState, taskId, ...rest } = result as { readonly requestState?: unknown; readonly taskId?: unknown };
  const [scanned] = await lookThrough([rest], NOTHING, options, asker);
  if (scanned === undefined)
    throw new ResourceError(
      'too-large',
      `The result has more than the ${options.maxBytes} bytes or ${MAX_LEVELS} levels that are scanned for secrets; ask for less`,
      { details: { limit: options.maxBytes } },
    );
  const { value, findings } = scanned;
  if (findings.length === 0) return result;
  if (options.refuse) throw refused(undefined, findings);
  const whole = {
    ...value,
    ...(requestState !== undefined && { requestState }),
    ...(taskId !== undefined && { taskId }),
  } as T;
  return isInputRequired(whole) ? whole : counted(whole, findings);
}
