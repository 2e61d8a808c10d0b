/** A server of embeddings whose vectors are known: each word that it knows is a direction, and some words share one. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface EmbeddingServer extends AsyncDisposable {
  readonly url: string;
  /** The texts that it was sent, in their order. */
  readonly texts: readonly string[];
  /** Those of them that were answered with a vector. */
  readonly answered: readonly string[];
  /** How it answers from now on. */
  answer: 'well' | 'status' | 'nonsense' | 'other dimensions' | 'never';
  /** The most texts of all requests together. The request that exceeds this, and all later ones, are not answered. */
  most: number;
}

/** @param directions the words of each direction */
export async function embeddingServer(directions: readonly (readonly string[])[]): Promise<EmbeddingServer> {
  const texts: string[] = [];
  const answered: string[] = [];
  const server = createServer(async (request, response) => {
    const { input } = JSON.parse(await text(request)) as { readonly input: readonly string[] };
    texts.push(...input);
    if (self.answer === 'never' || texts.length > self.most) return;
    if (self.answer === 'status') return void response.writeHead(503).end();
    if (self.answer === 'nonsense') return void response.end('{"data":[{"index":0,"embedding":"clock"}]}');
    const data = input.map((each, index) => ({ index, embedding: vectorOf(each) }));
    answered.push(...input);
    response.end(JSON.stringify({ data }));
  });
  const vectorOf = (given: string): readonly number[] => {
    const words = given.toLowerCase().match(/[a-z]+/g) ?? [];
    const counts = directions.map((same) => words.filter((word) => same.includes(word)).length);
    return [...counts, 0.01, ...(self.answer === 'other dimensions' ? [1] : [])];
  };
  const self: EmbeddingServer = {
    url: '',
    ...{ texts, answered },
    answer: 'well',
    most: Number.POSITIVE_INFINITY,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(self, { url: `http://127.0.0.1:${port}/v1/embeddings` });
}
