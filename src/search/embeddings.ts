/** Gets vectors of texts from a server that speaks `/v1/embeddings`. Texts are sent to no other server. */
import { z } from 'zod';
import type { Log } from '../core/context.ts';

export interface EmbeddingOptions {
  /** The whole URL, such as `http://127.0.0.1:11434/v1/embeddings`. */
  readonly url: string;
  readonly model: string;
  /** Sent as a bearer token. */
  readonly key?: string | undefined;
  /** Seconds for one answer. Default: 10. */
  readonly timeoutSeconds?: number | undefined;
}

export interface Embedder {
  /**
   * Returns a vector of length 1 for each text; undefined if the server gives none now. The first such failure is logged.
   * @param mostMs the most milliseconds for one answer, for a question whose caller waits
   */
  embed(texts: readonly string[], signal: AbortSignal, mostMs?: number): Promise<readonly Float32Array[] | undefined>;
  /** Whether the server has failed, and gets no requests for now. */
  readonly resting: boolean;
}

/** The most texts in one request, and the most characters of each. */
const BATCH = 32;
const MAX_CHARACTERS = 8_000;

/** The most numbers in a vector. */
const MAX_DIMENSIONS = 4_096;

/** The most bytes of one answer. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

const DEFAULT_TIMEOUT_SECONDS = 10;

/** Milliseconds without requests after the server has failed. */
const REST_MS = 15_000;

const answer = z.object({
  data: z.array(z.object({ index: z.number().int(), embedding: z.array(z.number()).min(1).max(MAX_DIMENSIONS) })),
});

/** @param log gets one message when the server fails, and one when it is back */
export function createEmbedder(
  { url, model, key, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS }: EmbeddingOptions,
  log: Log,
  restMs = REST_MS,
): Embedder {
  let dimensions: number | undefined;
  let failing = false;
  /** The times until which requests rest: those for questions, whose callers wait, and all of them. */
  const until = { questions: 0, all: 0 };

  async function ask(input: readonly string[], signal: AbortSignal, mostMs: number): Promise<readonly Float32Array[]> {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      headers: { 'Content-Type': 'application/json', ...(key !== undefined && { Authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, input }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(Math.min(mostMs, timeoutSeconds * 1_000))]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`The server of embeddings answered with the status ${response.status}`);
    }
    const { data } = answer.parse(JSON.parse(await limited(response)));
    const vectors = data.sort((a, b) => a.index - b.index).map(({ embedding }) => unit(embedding));
    if (vectors.length !== input.length || data.some(({ index }, at) => index !== at))
      throw new Error('The server of embeddings did not give one vector for each text');
    dimensions ??= vectors[0]?.length;
    if (vectors.some(({ length }) => length !== dimensions))
      throw new Error(
        'The server of embeddings gave vectors of several dimensions: if its model was replaced, restart Vitrine',
      );
    return vectors;
  }

  return {
    get resting() {
      return performance.now() < until.all;
    },
    async embed(texts, signal, mostMs = Number.POSITIVE_INFINITY) {
      const hurried = Number.isFinite(mostMs);
      if (performance.now() < Math.max(until.all, hurried ? until.questions : 0)) return undefined;
      try {
        const vectors: Float32Array[] = [];
        for (let at = 0; at < texts.length; at += BATCH) {
          const input = texts.slice(at, at + BATCH).map((text) => text.slice(0, MAX_CHARACTERS));
          vectors.push(...(await ask(input, signal, mostMs)));
        }
        if (failing) log.info('the server of embeddings is back');
        failing = false;
        return vectors;
      } catch (error) {
        if (signal.aborted) return undefined;
        if (!failing) log.warn('there are no embeddings now; ranked search goes on by words alone', { error });
        failing = true;
        until[hurried && isTimeout(error) ? 'questions' : 'all'] = performance.now() + restMs;
        return undefined;
      }
    },
  };
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError';

async function limited({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    parts.push(part);
    bytes += part.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('The answer of the server of embeddings is too large');
  }
  return Buffer.concat(parts).toString('utf8');
}

function unit(numbers: readonly number[]): Float32Array {
  const length = Math.hypot(...numbers);
  if (!(length > 0) || !Number.isFinite(length)) throw new Error('The server of embeddings gave a vector of no length');
  return Float32Array.from(numbers, (number) => number / length);
}
