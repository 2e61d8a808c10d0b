/** Connecting to a program that serves over stdio. */
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Connect, ConnectContext } from '../connection.ts';
import { ResourceClientError } from '../errors.ts';
import { type ClientTarget, newClient, open } from '../http.ts';

/** A program that serves over stdio. It is started without a shell. */
export interface StdioTarget extends ClientTarget {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Beside `HOME`, `PATH` and the like, which it gets anyway. Nothing else of this program's environment is handed on. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Where it runs. Default: where this program does. */
  readonly cwd?: string | undefined;
  /** What it writes to standard error, in pieces. It may hold terminal escapes. Default: it is thrown away. */
  readonly onStderr?: ((text: string) => void) | undefined;
}

/** How long a program may think about which era it speaks, in milliseconds: an old one may never answer. */
const PROBE_MS = 5_000;

/** How to start a program and connect to it. It ends with the connection. */
export function stdioConnect(target: StdioTarget): Connect {
  let legacy = false;
  return async (context) => {
    if (legacy) return start(target, 'legacy', context);
    try {
      const client = await start(target, 'auto', context);
      // When it is started again, it is what it was.
      legacy = client.getProtocolEra() === 'legacy';
      return client;
    } catch (error) {
      context.signal.throwIfAborted();
      if (!endedAtOnce(error)) throw error;
    }
    // Some programs of the 2025 era end when they are asked for their era: another one is not asked.
    const client = await start(target, 'legacy', context);
    legacy = true;
    return client;
  };
}

async function start(target: StdioTarget, mode: 'auto' | 'legacy', { signal }: ConnectContext) {
  const { command, args = [], env, cwd, onStderr, clientOptions } = target;
  const versionNegotiation =
    mode === 'legacy' ? { mode } : (clientOptions?.versionNegotiation ?? { mode, probe: { timeoutMs: PROBE_MS } });
  const client = newClient({ ...target, clientOptions: { ...clientOptions, versionNegotiation } });
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    stderr: 'pipe',
    ...(env !== undefined && { env: { ...env } }),
    ...(cwd !== undefined && { cwd }),
  });
  transport.stderr?.on('data', (chunk: Buffer) => onStderr?.(chunk.toString()));
  await open(client, transport, target, signal);
  return client;
}

const endedAtOnce = (error: unknown): boolean =>
  error instanceof SdkError &&
  (error.code === SdkErrorCode.EraNegotiationFailed || error.code === SdkErrorCode.ConnectionClosed);

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
