/** Around tools and prompts: those that may not be used are not called, and not listed (SEC-TOOL-2, SEC-PROMPT-2). */
import { hash } from 'node:crypto';
import type { Gate, GatedOperation } from '../../core/gate.ts';
import { noSuchPrompt } from '../../core/prompt.ts';
import { noSuchTool } from '../../core/tool.ts';
import type { Asked, Decisions } from './decisions.ts';

export function accessGate(decisions: Decisions): Gate {
  return async (operation, ctx, run) => {
    const asked = askedBy(operation);
    if (asked !== undefined) await decisions.enforce(asked, ctx, mannerOf(operation));
    return run(ctx);
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
