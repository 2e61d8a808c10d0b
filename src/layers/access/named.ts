/** Guards tools and prompts: a caller can neither call nor list those that it may not use (SEC-TOOL-2, SEC-PROMPT-2). */
import { hash } from 'node:crypto';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ProviderOverrides } from '../../core/layer.ts';
import { fillPage } from '../../core/lists/filtered-list.ts';
import type { NamedRequest } from '../../core/mounts/mounted-server.ts';
import type { Named, NamedPage, Operations, Owner } from '../../core/operations.ts';
import { noSuchPrompt } from '../../core/prompt.ts';
import type { Page } from '../../core/provider.ts';
import { noSuchTask } from '../../core/task-ids.ts';
import { noSuchTool } from '../../core/tool.ts';
import type { DecisionRequest, Decisions, Manner } from './decisions.ts';
import { guardedAsking, guardedResult } from './results.ts';
import { nextTick } from './together.ts';
import { withoutUnseenMounts } from './unseen-mounts.ts';

type Operation = 'call' | 'prompt';

export function guardedNames(inner: Operations, decisions: Decisions): ProviderOverrides {
  const { policy } = decisions;
  // An override of an optional operation counts only where `inner` has it, so each one is there when it is called.
  const has = inner as Required<Operations>;

  /** Whether a tool or a prompt is shown; one that a human has to confirm is shown, too. */
  async function shows(operation: Operation, name: string, owner: Owner, ctx: Context): Promise<boolean> {
    const { mount, onlyResources } = owner;
    const { effect } = await decisions.decide({ operation, name, mount, onlyResources }, ctx);
    return effect === 'allow' || effect === 'ask';
  }

  function listAllowed<T extends { readonly name: string }>(
    operation: Operation,
    list: (page: Page, ctx: Context) => Promise<NamedPage<T>>,
    page: Page,
    ctx: Context,
  ): Promise<NamedPage<T>> {
    return fillPage<Named<T>>(
      (wanted, quietly) => list(wanted, quietly ? { ...ctx, notes: undefined } : withoutUnseenMounts(policy, ctx)),
      page,
      async (entry) => ((await shows(operation, entry.described.name, entry.owner, ctx)) ? entry : undefined),
      ctx,
    );
  }

  async function enforce(access: DecisionRequest, owner: Owner, ctx: Context, manner: Manner): Promise<void> {
    const { mount, exists } = owner;
    const decision = await decisions.decide(access, ctx);
    // A mounted server answers for a missing name in its own words, and after its own time. So where something may be hidden,
    // Vitrine looks up missing and hidden names alike, and a request for either does not reach the server.
    const looksUp =
      exists !== undefined && decision.effect !== 'deny' && decisions.mayHide(access.operation, mount, ctx);
    if (looksUp && !(await exists(ctx))) {
      ctx.decided?.(decision);
      throw manner.missing();
    }
    decisions.carryOut(decision, access, ctx, manner);
  }

  /** Runs a tool or prompt that may be used. A hidden one and a missing one give the same error, after the same time. */
  async function runIfAllowed<T>(
    access: DecisionRequest,
    owner: Owner,
    ctx: Context,
    manner: Manner,
    run: () => Promise<T>,
  ): Promise<T> {
    try {
      await enforce(access, owner, ctx, manner);
      return await run();
    } catch (error) {
      if (policy.hides !== false && error instanceof ResourceError && error.code === 'invalid') await nextTick();
      throw error;
    }
  }

  const asPrompt = (name: string, { mount }: Owner): DecisionRequest => ({ operation: 'prompt', name, mount });

  return {
    listTools: (page, ctx) => listAllowed('call', (wanted, seen) => has.listTools(wanted, seen), page, ctx),

    callTool(request, owner, invocation) {
      const { name, arguments: given = {} } = request;
      const { mount, onlyResources } = owner;
      const access: DecisionRequest = { operation: 'call', name, mount, arguments: given, onlyResources };
      return runIfAllowed(access, owner, invocation, callManner(request), () =>
        guardedResult(owner, invocation, decisions, () =>
          has.callTool(request, owner, guardedAsking(owner, invocation, decisions)),
        ),
      );
    },

    callToolAgain(request, owner, ctx) {
      const { name, arguments: given = {} } = request;
      const { mount, onlyResources } = owner;
      const decision = decisions.decide({ operation: 'call', name, mount, arguments: given, onlyResources }, ctx);
      // Results of other servers have to be checked each time.
      if (decision instanceof Promise || decision.effect !== 'allow' || owner.foreign === true) return undefined;
      const members = has.callToolAgain(request, owner, ctx);
      if (members !== undefined) ctx.decided?.(decision);
      return members;
    },

    // A caller who may no longer call the tool gets nothing of a task that its call began.
    async askTask(request, owner, invocation) {
      const access: DecisionRequest = { operation: 'call', name: request.name, mount: owner.mount };
      const decision = await decisions.decide(access, invocation);
      invocation.decided?.(decision);
      if (decision.effect !== 'allow' && decision.effect !== 'ask') throw noSuchTask();
      return guardedResult(owner, invocation, decisions, () =>
        has.askTask(request, owner, guardedAsking(owner, invocation, decisions)),
      );
    },

    async headerParameters(tool, owner, ctx) {
      return (await shows('call', tool, owner, ctx)) ? has.headerParameters(tool, owner, ctx) : [];
    },

    listPrompts: (page, ctx) => listAllowed('prompt', (wanted, seen) => has.listPrompts(wanted, seen), page, ctx),

    getPrompt: (request, owner, invocation) =>
      runIfAllowed(asPrompt(request.name, owner), owner, invocation, promptManner('prompts/get', request), () =>
        guardedResult(owner, invocation, decisions, () =>
          has.getPrompt(request, owner, guardedAsking(owner, invocation, decisions)),
        ),
      ),

    completePrompt: (request, owner, ctx) =>
      runIfAllowed(
        asPrompt(request.prompt, owner),
        owner,
        ctx,
        promptManner('prompts/complete', { name: request.prompt }),
        () => has.completePrompt(request, owner, ctx),
      ),
  };
}

/** The key of a confirmation. It holds for these arguments only. */
const keyOf = (method: string, { name, arguments: given = {} }: NamedRequest): string =>
  `${method}:${name}:${hash('sha256', JSON.stringify(given))}`;

const callManner = (request: NamedRequest): Manner => ({
  missing: () => noSuchTool(request.name),
  key: keyOf('tools/call', request),
  question: `May the tool ${request.name} be called with ${shortened(JSON.stringify(request.arguments ?? {}))}?`,
});

const promptManner = (method: string, request: NamedRequest): Manner => ({
  missing: () => noSuchPrompt(request.name),
  key: keyOf(method, request),
  question: `May the prompt ${request.name} be used?`,
});

/** The most characters of the arguments that a question shows. */
const MAX_SHOWN = 500;

const shortened = (text: string): string => (text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`);
