/** A client of the hostile server, in either era. */
import { fileURLToPath } from 'node:url';
import type { Client } from '@modelcontextprotocol/client';
import type { GuardEvent } from '../../../src/client/guards/index.ts';
import type { Abilities, Connected, Era } from '../../e2e/harness.ts';
import { connectProgram } from '../../e2e/programs.ts';

/** The program; its argument is the era. */
export const HOSTILE_SERVER = fileURLToPath(new URL('hostile-server.mjs', import.meta.url));

export const connectHostile = (era: Era, abilities?: Abilities): Promise<Connected> =>
  connectProgram(era, [HOSTILE_SERVER, era], abilities);

/** Has the server ask all of these questions at once. Gives the answers that the server got, or the error of a question. */
export async function askedBy(
  client: Client,
  requests: Readonly<Record<string, { readonly method: string; readonly params?: Record<string, unknown> }>>,
): Promise<Record<string, unknown>> {
  try {
    const result = await client.callTool({ name: 'ask', arguments: { requests } });
    return JSON.parse(textOf(result)) as Record<string, unknown>;
  } catch (error) {
    // In the 2026 era a refusal ends the call, and nothing of it reaches the server.
    const refusal = { error: { code: (error as { code?: unknown }).code, message: (error as Error).message } };
    return Object.fromEntries(Object.keys(requests).map((key) => [key, refusal]));
  }
}

export const textOf = (result: { readonly content?: unknown }): string =>
  (result.content as readonly { readonly text: string }[])[0]?.text ?? '';

/** Events as `decision reason`. */
export function recorder(): {
  readonly onEvent: (event: GuardEvent) => void;
  readonly events: readonly GuardEvent[];
  told(): string[];
} {
  const events: GuardEvent[] = [];
  return {
    onEvent: (event) => void events.push(event),
    events,
    told: () => events.map(({ decision, reason }) => `${decision} ${reason}`),
  };
}
