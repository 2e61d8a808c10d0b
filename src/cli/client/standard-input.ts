/** Reads standard input to its end, within a limit. */
import { addAbortSignal, type Readable } from 'node:stream';
import { UsageError } from '../errors.ts';

/** The most bytes of standard input that a command takes. */
const MAX_INPUT_BYTES = 64 * 1024 * 1024;

/**
 * Reads a stream of UTF-8 to its end, and returns its text without a byte order mark.
 * @param signal ends the reading, which then throws
 * @throws UsageError if there are more bytes than the limit
 */
export async function inputText(input: Readable, signal: AbortSignal, maxBytes = MAX_INPUT_BYTES): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of addAbortSignal(signal, input)) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes) throw new UsageError(`Standard input has more than ${maxBytes} bytes; give a shorter text`);
    chunks.push(chunk as Buffer);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
