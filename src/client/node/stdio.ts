/** Connects to a program that serves over stdio. */
import type { Era } from '../../connection/data.ts';
import { CONNECT_MS } from '../../connection/dial.ts';
import type { Intake } from '../../connection/intake.ts';
import { type Program, type ProgramTransport, programTransport } from '../../connection/node/program.ts';
import { startProgram } from '../../connection/node/start.ts';
import { stripUnseen } from '../../core/text/clean-text.ts';
import type { ResourceClient } from '../client.ts';
import type { Connect } from '../connection.ts';
import { ResourceClientError } from '../errors.ts';
import { type ClientTarget, dialOptions, newClient } from '../http.ts';

/** A program that serves over stdio. It and all that it started end with the connection. */
export interface StdioTarget extends ClientTarget, Program {
  /** Called with each piece of the program's standard error, which may hold terminal escapes. Default: it is thrown away. */
  readonly onStderr?: ((text: string) => void) | undefined;
}

/** Connects the client and returns it; closes it if that fails. */
export async function connected(client: ResourceClient, signal: AbortSignal | undefined): Promise<ResourceClient> {
  try {
    await client.connect(signal);
    return client;
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** Returns a function that starts the program and connects to it. */
export const stdioConnect = (target: StdioTarget): Connect =>
  lineConnect(target, (intake) =>
    programTransport(target, intake, (chunk) => {
      const text = chunk.toString();
      target.onStderr?.(text);
      return stripUnseen(text);
    }),
  );

/** Returns a function that makes a transport of lines and connects over it. */
export function lineConnect(target: ClientTarget, make: (intake: Intake) => ProgramTransport): Connect {
  const { clientOptions } = target;
  const { mode } = clientOptions?.versionNegotiation ?? { mode: 'auto' };
  const fixedEra = mode === 'auto' ? undefined : typeof mode === 'object' ? 'modern' : 'legacy';
  // A program that turned out to be of the 2025 era is dialled in that era when it is started again.
  let only: Era | undefined = fixedEra;
  return async ({ signal }) => {
    const { client } = await startProgram(
      (negotiation) =>
        newClient(
          fixedEra === undefined
            ? { ...target, clientOptions: { ...clientOptions, versionNegotiation: negotiation } }
            : target,
        ),
      make,
      { ...dialOptions(target, signal, CONNECT_MS.program), only },
    );
    if (client.getProtocolEra() === 'legacy') only = 'legacy';
    return client;
  };
}

/**
 * Splits a command line into words. Quotes and backslashes work as in a shell; nothing else of a shell does.
 * @throws ResourceClientError `invalid` for an empty command line, and for an open quote
 */
export function parseCommandLine(text: string): { readonly command: string; readonly args: readonly string[] } {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    const next = text.charAt(at + 1);
    if (character === '\\' && quote !== "'" && (quote === undefined || next === '"' || next === '\\') && next !== '') {
      word = (word ?? '') + next;
      at++;
    } else if (character === quote) quote = undefined;
    else if (quote === undefined && (character === '"' || character === "'")) {
      quote = character;
      word ??= '';
    } else if (quote === undefined && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + character;
  }
  if (quote !== undefined) throw new ResourceClientError('invalid', 'The command line has an open quote');
  if (word !== undefined) words.push(word);
  const [command, ...args] = words;
  if (command === undefined) throw new ResourceClientError('invalid', 'The command line is empty');
  return { command, args };
}
