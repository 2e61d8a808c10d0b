/** Servers in processes of their own, as hosts start them, for tests that need a process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import {
  type Abilities,
  CLI,
  type Connected,
  connected,
  connectOnly,
  type Era,
  type Listening,
  ROOT,
  type TransportKind,
} from './harness.ts';
import { within } from './waiting.ts';

export interface ConnectedProgram extends Connected {
  /** The server's process. */
  readonly pid: number;
}

export interface ListeningProgram extends Listening {
  readonly process: ChildProcess;
  /** Sends a signal and resolves with the exit status. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts Node.js with a program that serves over stdio, and connects to it. */
export async function connectProgram(
  era: Era,
  args: readonly string[],
  abilities?: Abilities,
): Promise<ConnectedProgram> {
  const transport = new StdioClientTransport({ command: process.execPath, args: [...args], cwd: ROOT, stderr: 'pipe' });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const connection = await connected(era, transport, {
    reachable: Promise.resolve(),
    beforeClose: async () => {},
    stderr: () => stderr,
    abilities,
  });
  return { ...connection, pid: transport.pid ?? 0 };
}

/** Starts `vitrine serve <args> --http <address>`, at a free port by default. Resolves when it listens. */
export async function startProgram(args: readonly string[], address = '0'): Promise<ListeningProgram> {
  const child = spawn(process.execPath, [CLI, 'serve', ...args, '--http', address], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = /Endpoint: (\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${output}`)));
  });
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exited = once(child, 'exit');
    child.kill(signal);
    const [code] = (await within(exited, `the end of the server after ${signal}`)) as [number | null];
    return code;
  };
  return { url, process: child, output: () => output, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

/** A program that serves over either transport, with one client of either era. */
export async function connectToProgram(
  transport: TransportKind,
  era: Era,
  args: readonly string[],
  abilities?: Abilities,
): Promise<ConnectedProgram> {
  if (transport === 'stdio') return connectProgram(era, [CLI, 'serve', ...args], abilities);
  const server = await startProgram(args);
  return { ...(await connectOnly(era, server, abilities)), pid: server.process.pid ?? 0 };
}
