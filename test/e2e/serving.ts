/** `vitrine serve` in this process: the same command, with streams of its own and a function that ends it. */
import { PassThrough, Transform } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { explainFailure } from '../../src/cli/errors.ts';
import { runProgram } from '../../src/cli/program.ts';
import { createSecrets } from '../../src/config/secrets.ts';
import { stripControls } from '../../src/core/text/scrub.ts';
import { rememberText } from '../errors/sent.ts';
import { watchText } from '../errors/tap.ts';
import { within } from './waiting.ts';

interface Command {
  readonly input: Transform;
  readonly output: Transform;
  /** The text that the command has written to standard error. */
  errors(): string;
  /** Resolves with the exit status. */
  readonly ended: Promise<number>;
  /** Ends the command as SIGTERM does. Resolves with the exit status. */
  stop(): Promise<number>;
}

/** Begins `vitrine serve <args>`. The caller sends and reads on its streams. */
export function runServe(args: readonly string[]): Command {
  const input = watched(rememberText);
  const output = watched(watchText());
  const errors = new PassThrough();
  let written = '';
  errors.on('data', (chunk: Buffer) => {
    written += chunk.toString();
  });
  let signal = (): void => {};
  const signalled = new Promise<'stopped'>((resolve) => {
    signal = () => resolve('stopped');
  });
  const stopping = { signalled, begin: () => {} };
  const secrets = createSecrets();
  const terminal = { input, output, errors, takeSignals: () => stopping, exit: () => {} };
  const ended = runProgram(['serve', ...args], secrets, terminal).then(
    () => 0,
    (error: unknown) => {
      const { line, status } = explainFailure(error);
      written += `vitrine: ${stripControls(secrets.hide(line))}\n`;
      return status;
    },
  );
  return {
    input,
    output,
    errors: () => written,
    ended,
    stop() {
      signal();
      return within(ended, 'the end of the server');
    },
  };
}

/** One direction of a pipe, which shows every chunk to `look`. A pipe needs two of these: with one, each end would get its own messages. */
const watched = (look: (chunk: Buffer) => void): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      look(chunk);
      done(null, chunk);
    },
  });

export interface Listening extends AsyncDisposable {
  readonly url: string;
  /** The standard output and error so far. */
  output(): string;
  /** Ends the server as SIGTERM does. Resolves with the exit status. */
  stop(): Promise<number | null>;
}

/** Serves `vitrine serve <args> --http <address>`, at a free port by default. Resolves when it listens. */
export async function startHttp(args: readonly string[], address = '0'): Promise<Listening> {
  const command = runServe([...args, '--http', address]);
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    command.output.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const found = /Endpoint: (\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    void command.ended.then((status) =>
      reject(new Error(`the server ended with ${status}: ${output}${command.errors()}`)),
    );
  });
  const { stop } = command;
  return {
    url,
    output: () => output + command.errors(),
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

export interface Pipe {
  /** The client's end of the pipe. */
  readonly transport: Transport;
  errors(): string;
  /** Closes the server's standard input, and ends it as SIGTERM does. */
  end(): Promise<void>;
}

/** Serves `vitrine serve <args>` over streams in this process. */
export function serveOverPipe(args: readonly string[]): Pipe {
  const command = runServe(args);
  // Both ends of a pipe use the same transport of the SDK, which works on any streams.
  const transport = new StdioServerTransport(command.output, command.input);
  void command.ended.then(() => transport.close());
  return {
    transport,
    errors: command.errors,
    async end() {
      command.input.end();
      await command.stop();
    },
  };
}
