/** The wire to an upstream: a child process, or an HTTP endpoint whose stream of notifications is looked after. */
import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import type { Log } from '../../../core/context.ts';
import { scrub } from '../../../core/scrub.ts';
import { isStdio, type UpstreamTarget } from '../options.ts';
import { annotateMessages, takeOrigin } from './message-origin.ts';
import { isMessage, post } from './post.ts';
import { programTransport } from './program.ts';
import { answered, requestIn } from './unanswered.ts';

/** The stream on which a 2025-era server sends what no request asked for. */
export interface StreamEvents {
  opened(): void;
  ended(): void;
}

/** Kept of what a program writes to standard error at a time, in characters. */
const MAX_LOG_LINE = 2_000;

/** Values of the environment that are shorter are words such as `1` and `true`. */
const MIN_SECRET_LENGTH = 6;

export function createTransport(target: UpstreamTarget, name: string, log: Log, stream: StreamEvents): Transport {
  if (isStdio(target)) {
    const secrets = Object.values(target.env ?? {}).filter((value) => value.length >= MIN_SECRET_LENGTH);
    return programTransport(target, (chunk) => {
      let line = scrub(chunk.toString('utf8').slice(0, MAX_LOG_LINE)).trimEnd();
      // What it was given in its environment may be secret, and some programs print it.
      for (const secret of secrets) line = line.replaceAll(secret, '***');
      if (line !== '') log.debug('an upstream wrote to standard error', { mount: name, line });
    });
  }
  return new StreamableHTTPClientTransport(new URL(target.url), {
    fetch: (url, init) => observed(url, init, stream),
    ...(target.headers !== undefined && { requestInit: { headers: { ...target.headers } } }),
    ...(target.auth !== undefined && { authProvider: target.auth }),
    reconnectionOptions: {
      initialReconnectionDelay: 250,
      maxReconnectionDelay: 5_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 4,
    },
  });
}

async function observed(url: string | URL, init: RequestInit | undefined, stream: StreamEvents): Promise<Response> {
  if (init?.method === 'POST') {
    const { headers, origin } = takeOrigin(init.headers);
    const response = isMessage(init, headers) ? await post(url, init, headers) : await fetch(url, { ...init, headers });
    if (response.body === null) return response;
    const answer = answered(requestIn(init.body), response);
    return origin === undefined ? answer : annotateMessages(origin, answer);
  }
  const response = await fetch(url, init);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (init?.method !== 'GET' || !response.ok || !isStream || response.body === null) return response;
  stream.opened();
  return new Response(
    untilEnd(response.body, () => init.signal?.aborted !== true && stream.ended()),
    {
      status: response.status,
      headers: response.headers,
    },
  );
}

/** The same bytes, and a word when they end, however they end. */
function untilEnd(body: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          controller.enqueue(value);
          return;
        }
        controller.close();
        ended();
      } catch (error) {
        controller.error(error);
        ended();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
