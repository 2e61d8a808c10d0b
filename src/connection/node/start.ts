/** Starts a program and connects to it, in its era. */
import type { Client } from '@modelcontextprotocol/client';
import type { Era } from '../data.ts';
import { type DialOptions, dial, endedAtOnce } from '../dial.ts';
import type { Intake } from '../intake.ts';
import { type EitherEra, inEitherEra } from './both-eras.ts';
import type { ProgramTransport } from './program.ts';

const MODERN = '2026-07-28';

/** Options of the SDK's client for negotiating the era. */
export interface Negotiation {
  readonly mode: 'auto' | 'legacy' | { readonly pin: typeof MODERN };
  readonly probe: { readonly timeoutMs: number };
}

export interface StartOptions extends DialOptions {
  /** The preferred era of a program that speaks both. Default: `modern`. */
  readonly first?: Era | undefined;
  /** The only era to use. */
  readonly only?: Era | undefined;
}

export interface Started {
  readonly client: Client;
  readonly intake: Intake;
}

/** Options for the SDK's own negotiation, which may take as long as connecting. */
export const negotiation = (connectMs: number, only?: Era): Negotiation => ({
  mode: only === undefined ? 'auto' : only === 'legacy' ? 'legacy' : { pin: MODERN },
  probe: { timeoutMs: connectMs },
});

/**
 * Starts one process, whatever era it speaks and however late it answers. Starts a second one where the first exits
 * when it is asked in an unknown era, as some programs do.
 * @throws errors of `dial`
 */
export async function startProgram(
  newClient: (negotiation: Negotiation) => Client,
  make: (intake: Intake) => ProgramTransport,
  options: StartOptions,
): Promise<Started> {
  const { first = 'modern', only, prior, timeoutMs, signal } = options;
  let asking: EitherEra | undefined;
  async function start(fixed: Era | undefined): Promise<Started> {
    const client = newClient(negotiation(timeoutMs, fixed));
    const intake = await dial(
      client,
      (taking) => {
        if (fixed !== undefined || prior !== undefined) return make(taking);
        asking = inEitherEra(make(taking), first, timeoutMs);
        return asking;
      },
      options,
    );
    return { client, intake };
  }
  try {
    return await start(only);
  } catch (error) {
    if (signal?.aborted === true || only !== undefined || prior !== undefined || !endedAtOnce(error)) throw error;
  }
  return start(asking?.answered ?? (first === 'modern' ? 'legacy' : 'modern'));
}
