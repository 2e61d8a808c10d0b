/**
 * Limits the answers of the store before the client parses them: the client would parse the whole text in one go, however
 * large it is. Contents of objects are streams, and have no limit here.
 */
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { ResourceError } from '../../core/errors.ts';
import { MAX_KEY_BYTES } from './names.ts';

/** The most bytes of an error, or of a list beside its keys. */
const MAX_FRAME_BYTES = 64 * 1024;

/** The most bytes for one key of a list. Each byte of a key takes up to three when it is escaped; its facts take a few hundred. */
const MAX_ENTRY_BYTES = 3 * MAX_KEY_BYTES + 1_024;

/** The most tags, references and attributes of an error, or of a list beside its keys. Parsing them takes time. */
const MAX_FRAME_MARKS = 2_000;

/** The same for each key of a list. */
const MAX_ENTRY_MARKS = 48;

interface Limit {
  readonly bytes: number;
  readonly marks: number;
}

const limitOf = (keys: number): Limit => ({
  bytes: MAX_FRAME_BYTES + keys * MAX_ENTRY_BYTES,
  marks: MAX_FRAME_MARKS + keys * MAX_ENTRY_MARKS,
});

interface Response {
  readonly statusCode?: number;
  body?: Readable | Uint8Array;
}

/** Makes a client check the size of lists and errors before it parses them. */
export function limitAnswers(client: S3Client): void {
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args);
        const response = result.response as Response;
        const failed = (response.statusCode ?? 0) >= 300;
        const keys = (args.input as { readonly MaxKeys?: number }).MaxKeys ?? 0;
        if (failed || commandName === 'ListObjectsV2Command')
          response.body = await limitedBody(response, limitOf(failed ? 0 : keys));
        return result;
      },
    // At low priority this stands nearer to the connection than the parser, so it gets each answer first.
    { step: 'deserialize', priority: 'low', name: 'limitAnswers' },
  );
}

/** Reads the body of an answer. @throws ResourceError `unavailable` if it is over a limit */
async function limitedBody({ body }: Response, limit: Limit): Promise<Uint8Array> {
  if (body === undefined) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let [bytes, marks] = [0, 0];
  for await (const chunk of body instanceof Uint8Array ? [body] : (body as AsyncIterable<Uint8Array>)) {
    bytes += chunk.byteLength;
    marks += marksIn(chunk);
    // Leaving the loop closes the connection.
    if (bytes > limit.bytes || marks > limit.marks)
      throw new ResourceError('unavailable', 'The answer of the store is larger than the request allows', {
        cause: new Error(`An answer of more than ${limit.bytes} bytes or ${limit.marks} tags`),
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const [LESS, AMPERSAND, EQUALS] = [0x3c, 0x26, 0x3d];

function marksIn(chunk: Uint8Array): number {
  let count = 0;
  for (const byte of chunk) if (byte === LESS || byte === AMPERSAND || byte === EQUALS) count++;
  return count;
}
