/** Helps to write layers that do the same around every operation: record it, measure it, or limit its time. */

import type { TaskMethod } from '../protocol/tasks.ts';
import type { Context } from './context.ts';
import { type ProviderOverrides, wrapProvider } from './layer.ts';
import type { Operations, Subscribed } from './operations.ts';

/** An operation and its target. */
export interface OperationTarget {
  readonly method: AroundMethod;
  readonly uri?: string | undefined;
  /** The name of a tool or prompt, as the caller gave it, or the name of a subscribed list. */
  readonly name?: string | undefined;
  /** The mount that the tool or prompt belongs to. */
  readonly mount?: string | undefined;
}

export type AroundMethod =
  | 'list'
  | 'metadata'
  | 'templates'
  | 'complete'
  | 'watch'
  | 'subscribe'
  | 'tools/list'
  | 'tools/call'
  | TaskMethod
  | 'prompts/list'
  | 'prompts/get'
  | 'prompts/complete'
  | 'skills/list'
  | 'skills/get';

/** The operations that may end as a question to the client. */
export const MAY_ASK: ReadonlySet<AroundMethod> = new Set(['tools/call', 'prompts/get']);

/** Runs an operation, with the given context or a changed one. */
export type Around = <T, C extends Context>(asked: OperationTarget, ctx: C, run: (ctx: C) => Promise<T>) => Promise<T>;

/**
 * Returns a provider that runs `around` around each operation with a single answer.
 * @param own the operations whose answer goes on after they return, which each layer wraps itself: `read` with `again`, and
 *   `search`
 */
export function aroundEach(inner: Operations, around: Around, own: ProviderOverrides): Operations {
  // Optional operations are added only where the inner provider has them.
  const has = inner as Required<Operations>;
  return wrapProvider(inner, {
    list: (uri, page, ctx) => around({ method: 'list', uri }, ctx, (within) => inner.list(uri, page, within)),
    metadata: (uri, ctx) => around({ method: 'metadata', uri }, ctx, (within) => inner.metadata(uri, within)),
    listTemplates: (page, ctx) => around({ method: 'templates' }, ctx, (within) => has.listTemplates(page, within)),
    complete: (request, ctx) =>
      around({ method: 'complete', uri: request.uriTemplate }, ctx, (within) => has.complete(request, within)),
    watch: (uri, onChange, ctx) => around({ method: 'watch', uri }, ctx, (within) => has.watch(uri, onChange, within)),
    subscribe: (to, onChange, ctx) =>
      around({ method: 'subscribe', ...subscribed(to) }, ctx, (within) => has.subscribe(to, onChange, within)),
    listTools: (page, ctx) => around({ method: 'tools/list' }, ctx, (within) => has.listTools(page, within)),
    callTool: (request, owner, ctx) =>
      around({ method: 'tools/call', name: request.name, mount: owner.mount }, ctx, (within) =>
        has.callTool(request, owner, within),
      ),
    askTask: (request, owner, ctx) =>
      around({ method: request.method, name: request.name, mount: owner.mount }, ctx, (within) =>
        has.askTask(request, owner, within),
      ),
    listPrompts: (page, ctx) => around({ method: 'prompts/list' }, ctx, (within) => has.listPrompts(page, within)),
    getPrompt: (request, owner, ctx) =>
      around({ method: 'prompts/get', name: request.name, mount: owner.mount }, ctx, (within) =>
        has.getPrompt(request, owner, within),
      ),
    completePrompt: (request, owner, ctx) =>
      around({ method: 'prompts/complete', name: request.prompt, mount: owner.mount }, ctx, (within) =>
        has.completePrompt(request, owner, within),
      ),
    listSkills: (page, ctx) => around({ method: 'skills/list' }, ctx, (within) => has.listSkills(page, within)),
    getSkill: (uri, ctx) => around({ method: 'skills/get', uri }, ctx, (within) => has.getSkill(uri, within)),
    ...own,
  });
}

function subscribed(to: Subscribed): Pick<OperationTarget, 'uri' | 'name' | 'mount'> {
  if ('uri' in to) return to;
  if ('task' in to) return { name: to.task.name, mount: to.task.mount };
  return to.list === 'resources' ? {} : { name: to.list };
}
