/** Reads messages from the lines that a program writes: no more in a turn than the intake allows, and none over a limit. */
import type { Readable } from 'node:stream';
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { breaks } from '../../core/breaks.ts';
import { mendedMessage } from '../../protocol/implementation.ts';
import type { MessageLimit } from '../faults.ts';
import { idsAtEnds } from '../ids-at-ends.ts';
import { type Intake, overLimitAnswer } from '../intake.ts';
import { createLines, type Line } from './lines.ts';

/** A message that is too long is read up to this many times the longest length, and thrown away, to find its end. */
const LONGEST_TIMES = 16;

/** How many characters are shown of a line that is no message. */
const MAX_SHOWN = 100;

/** How many bytes are still read, and thrown away, of a program that is to end: some programs end only after all their output. */
const FAREWELL_BYTES = 4 * 1024 * 1024;

export interface Messages {
  /** Describes output that is no message, as in `wrote "...", which is not an MCP message`. Undefined if there was none. */
  readonly odd: string | undefined;
}

/**
 * Handles lines as they come. A program that writes faster has to wait.
 * @param transport gets the messages; @param listens whether messages are still wanted
 */
export function readMessages(
  stdout: Readable,
  intake: Intake,
  transport: Pick<Transport, 'onmessage' | 'onerror'>,
  listens: () => boolean,
): Messages {
  let firstOdd: string | undefined;
  let unfinished = 0;
  let farewell = 0;
  let working = false;
  const lines = createLines(intake.maxMessageBytes);

  /** Passes a message on. A listener that fails does not keep later messages from being read. */
  function pass(message: JSONRPCMessage): void {
    try {
      transport.onmessage?.(message);
    } catch (error) {
      transport.onerror?.(error instanceof Error ? error : new Error('A message was not handled', { cause: error }));
    }
  }

  function deliver(line: Line): void {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(mendedMessage(JSON.parse(line.text)));
    } catch (error) {
      // Some programs write other things to their standard output, too.
      firstOdd ??= line.text.slice(0, MAX_SHOWN);
      if (intake.take(undefined, line.bytes)) {
        transport.onerror?.(new Error('A line that is no message', { cause: error }));
      }
      return;
    }
    if (intake.take(message, line.bytes)) pass(message);
  }

  /** Fails the request whose answer goes over a limit. Any other message is dropped, or cuts the server off if it is too long. */
  function refuse({ text, bytes }: Line, limit: MessageLimit): void {
    const id = idsAtEnds(text).find(intake.awaits);
    if (id !== undefined) {
      intake.refuse(id, limit);
      pass(parseJSONRPCMessage(overLimitAnswer(id, limit)));
    } else if (limit === 'bytes') intake.cut(`sent a message of more than ${intake.maxMessageBytes} bytes`);
    else intake.drop(limit, bytes);
  }

  async function work(): Promise<void> {
    working = true;
    while (listens()) {
      const taken = breaks();
      const line = lines.next();
      if (line === undefined) break;
      const limit = line.cut ? 'bytes' : intake.excessOf(line.text);
      // Parsing a line does not pause, so a long line gets a turn of its own.
      const nextTurn = taken.end();
      if (nextTurn !== undefined) {
        stdout.pause();
        await nextTurn;
        if (!listens()) break;
      }
      if (limit === undefined) deliver(line);
      else refuse(line, limit);
      const turn = intake.use(line.bytes);
      if (turn === undefined) continue;
      stdout.pause();
      await turn;
    }
    working = false;
    unfinished = lines.unfinished;
    if (lines.unfinished > LONGEST_TIMES * intake.maxMessageBytes) {
      intake.cut(`sent a message of more than ${LONGEST_TIMES * intake.maxMessageBytes} bytes`);
    }
    if (stdout.isPaused()) stdout.resume();
  }

  stdout.on('data', (chunk: Buffer) => {
    if (listens()) {
      lines.push(chunk);
      // If `work` is running, it comes to these lines after the earlier ones.
      if (!working) void work();
      return;
    }
    lines.clear();
    farewell += chunk.length;
    if (farewell > FAREWELL_BYTES) stdout.destroy();
  });

  return {
    get odd() {
      if (firstOdd !== undefined) return `wrote ${JSON.stringify(firstOdd)}, which is not an MCP message`;
      return unfinished > 0 ? `wrote ${unfinished} bytes of a line and did not end it` : undefined;
    },
  };
}
