/** Connects to a server in this process. Two streams take the place of a program's standard input and output. */
import type { Readable, Writable } from 'node:stream';
import { ConnectionFault } from '../faults.ts';
import { mendMessages } from '../handshake.ts';
import type { Intake } from '../intake.ts';
import { readMessages } from './messages.ts';
import type { ProgramTransport } from './program.ts';

export interface ServerHere {
  /** The messages to the server. The server ends when this stream ends. */
  readonly input: Writable;
  /** The messages of the server. */
  readonly output: Readable;
  /** Resolves when the server has ended; rejects with the reason if it could not serve. */
  readonly ended: Promise<void>;
}

/** @param begin starts the server; it is called once */
export function hereTransport(begin: () => ServerHere, intake: Intake): ProgramTransport {
  let server: ServerHere | undefined;
  let exit: string | undefined;
  let over = false;
  const end = (): void => {
    if (over) return;
    over = true;
    transport.onclose?.();
  };
  const transport: ProgramTransport = {
    pid: null,
    stderr: null,
    odd: undefined,
    stderrLine: undefined,
    get exit() {
      return exit;
    },
    async start() {
      server = begin();
      readMessages(server.output, intake, transport, () => !over && !intake.over);
      const left = (): void => {
        exit ??= 'has ended';
        end();
      };
      server.ended.then(left, left);
    },
    async send(message) {
      if (over || server?.input.writable !== true) throw new ConnectionFault('ended', 'The server has ended');
      if ('id' in message && 'method' in message) intake.sent(message.id);
      server.input.write(`${JSON.stringify(message)}\n`);
    },
    cut: () => void server?.input.end(),
    async close() {
      server?.input.end();
      // The code that made the server reports the reason if it could not serve.
      await server?.ended.catch(() => {});
      end();
    },
  };
  return mendMessages(transport);
}
