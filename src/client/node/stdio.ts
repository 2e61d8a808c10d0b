/** Connecting to a program that serves over stdio. */
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
  /** Gets the program's standard error, in pieces. They may hold terminal escapes. Default: they are thrown away. */
  readonly onStderr?: ((text: string) => void) | undefined;
}

/** The client once it is connected; where that fails it is closed. */
export async function connected(client: ResourceClient, signal: AbortSignal | undefined): Promise<ResourceClient> {
  try {
    await client.connect(signal);
    return client;
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** How to start a program and connect to it. */
export const stdioConnect = (target: StdioTarget): Connect =>
  lineConnect(target, (intake) =>
    programTransport(target, intake, (chunk) => {
      const text = chunk.toString();
      target.onStderr?.(text);
      return stripUnseen(text);
    }),
  );

/** How to connect to what speaks in lines, which is started for it. */
export function lineConnect(target: ClientTarget, make: (intake: Intake) => ProgramTransport): Connect {
  const { clientOptions } = target;
  const { mode } = clientOptions?.versionNegotiation ?? { mode: 'auto' };
  const given = mode === 'auto' ? undefined : typeof mode === 'object' ? 'modern' : 'legacy';
  /** When it is started again, it is what it was. */
  let only: Era | undefined = given;
  return async ({ signal }) => {
    const { client } = await startProgram(
      (negotiation) =>
        newClient(
          given === undefined
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
 * A command line in words: quotes and backslashes as a shell has them, and nothing else of a shell.
 * @throws ResourceClientError `invalid` for none, and for an open quote
 */
export function parseCommandLine(text: string): { readonly command: string; readonly args: readonly string[] } {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const each = text.charAt(at);
    const next = text.charAt(at + 1);
    if (each === '\\' && quote !== "'" && (quote === undefined || next === '"' || next === '\\') && next !== '') {
      word = (word ?? '') + next;
      at++;
    } else if (each === quote) quote = undefined;
    else if (quote === undefined && (each === '"' || each === "'")) {
      quote = each;
      word ??= '';
    } else if (quote === undefined && /\s/.test(each)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + each;
  }
  if (quote !== undefined) throw new ResourceClientError('invalid', 'The command line has an open quote');
  if (word !== undefined) words.push(word);
  const [command, ...args] = words;
  if (command === undefined) throw new ResourceClientError('invalid', 'The command line is empty');
  return { command, args };
}
