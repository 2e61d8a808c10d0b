/** Reads the tables of the sample as JSON. */
import { chunksOf } from '../../../src/core/body.ts';
import { createContext } from '../../../src/core/context.ts';
import type { ResourceError } from '../../../src/core/errors.ts';
import type { ResourceProvider } from '../../../src/core/provider.ts';
import { readSample } from './record-shop.ts';

export const ctx = createContext();
const WANT = { maxBytes: 16_000_000, maxChildren: 100, accept: ['application/json'] };

/** The JSON of a resource. */
export async function readJson(provider: ResourceProvider, uri: string, context = ctx): Promise<unknown> {
  const [body] = await provider.read(uri, WANT, context);
  if (body === undefined) throw new Error(`nothing at ${uri}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksOf(body.content)) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

export interface RowJson {
  readonly row: Readonly<Record<string, unknown>>;
}

/** The error with which work is refused. Fails if it is not. */
export const refusal = async (work: Promise<unknown>): Promise<ResourceError> =>
  await work.then(
    (value) => {
      throw new Error(`was not refused: ${JSON.stringify(value)}`);
    },
    (error: ResourceError) => error,
  );

/** The text in the second column of the first row of a table. */
export const firstName = (table: string) => readSample().find(({ name }) => name === table)?.rows[0]?.[1];
