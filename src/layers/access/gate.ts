/** Around tools and prompts: those that may not be used are not called, and not listed (SEC-TOOL-2, SEC-PROMPT-2). */
import { hash } from 'node:crypto';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Gate, GatedOperation } from '../../core/gate.ts';
import { noSuchPrompt } from '../../core/prompt.ts';
import { noSuchTool } from '../../core/tool.ts';
import type { Asked, Decisions } from './decisions.ts';
import { nextTick } from './together.ts';

export function accessGate(decisions: Decisions): Gate {
  const { policy } = decisions;

  async function pass(asked: Asked, operation: GatedOperation, ctx: Context): Promise<void> {
    const { mount, exists } = operation;
    const manner = mannerOf(operation);
    const decision = await decisions.decide(asked, ctx);
    // A mounted server has its own words for what is missing, and takes its time: where something may be hidden, both
    // what is missing and what is hidden are looked for, and neither gets there.
    const looked = exists !== undefined && decision.effect !== 'deny' && decisions.mayHide(asked.operation, mount, ctx);
    if (looked && !(await exists())) {
      ctx.decided?.(decision);
      throw manner.missing();
    }
    decisions.carryOut(decision, asked, ctx, manner);
  }

  return async (operation, ctx, run) => {
    const asked = askedBy(operation);
    if (asked === undefined) return run(ctx);
    if (policy.hides === false) {
      await pass(asked, operation, ctx);
      return run(ctx);
    }
    try {
      await pass(asked, operation, ctx);
      return await run(ctx);
    } catch (error) {
      // A tool that is hidden and one that is missing are both no valid name.
      if (error instanceof ResourceError && error.code === 'invalid') await nextTick();
      throw error;
    }
  };
}

/** Lists are filtered entry by entry, and subscriptions are the provider's. */
function askedBy({ method, name, mount, arguments: given = {}, onlyResources }: GatedOperation): Asked | undefined {
  switch (method) {
    case 'tools/call':
      return { operation: 'call', name, mount, arguments: given, onlyResources };
    case 'prompts/get':
    case 'prompts/complete':
      return { operation: 'prompt', name, mount };
    case 'tools/list':
    case 'prompts/list':
    case 'subscribe':
      return undefined;
  }
}

function mannerOf({ method, name = '', arguments: given = {} }: GatedOperation) {
  const isTool = method === 'tools/call';
  return {
    missing: () => (isTool ? noSuchTool(name) : noSuchPrompt(name)),
    // A yes is good for these arguments and no others.
    key: `${method}:${name}:${hash('sha256', JSON.stringify(given))}`,
    question: isTool
      ? `May the tool ${name} be called with ${shortened(JSON.stringify(given))}?`
      : `May the prompt ${name} be used?`,
  };
}

const MAX_SHOWN = 500;

const shortened = (text: string): string => (text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`);
