/** The wire to an upstream: a child process, or an HTTP endpoint whose stream of notifications is looked after. */
import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import type { Log } from '../../../core/context.ts';
import { isStdio, type UpstreamTarget } from '../options.ts';
import type { Said } from '../said.ts';
import { createAllowance } from './allowance.ts';
import { letIn, upTo, whole } from './events.ts';
import type { Intake } from './intake.ts';
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

/** Pieces of what a program writes to standard error that are logged. */
const LOGGED = { burst: 100, perSecond: 10 } as const;

/** Bytes of a refusal over HTTP, of which no more than a few words are wanted. */
const MAX_REFUSAL_BYTES = 64 * 1024;

export type UpstreamTransport = Transport & {
  /** Ends it at once. */
  cut?(): void;
};

export function createTransport(
  target: UpstreamTarget,
  name: string,
  { log, said }: { readonly log: Log; readonly said: Said },
  intake: Intake,
  stream: StreamEvents,
): UpstreamTransport {
  if (isStdio(target)) return programTransport(target, intake, errorLog(name, log, said));
  return new StreamableHTTPClientTransport(new URL(target.url), {
    fetch: (url, init) => observed(url, init, intake, stream),
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

/** Logs what a program writes to standard error: the beginning of each piece, and not more than a few in a second. */
function errorLog(name: string, log: Log, said: Said): (chunk: Buffer) => void {
  const logged = createAllowance(LOGGED);
  let leftOut = 0;
  return (chunk) => {
    if (!logged.take(1)) {
      leftOut += chunk.length;
      return;
    }
    // A character has at most four bytes. What it was given in its environment may be secret, and some programs print it.
    const line = said.text(chunk.toString('utf8', 0, 4 * MAX_LOG_LINE).slice(0, MAX_LOG_LINE)).trimEnd();
    if (line === '') return;
    const before = leftOut === 0 ? {} : { bytesLeftOut: leftOut };
    leftOut = 0;
    log.debug('an upstream wrote to standard error', { mount: name, line, ...before });
  };
}

async function observed(
  url: string | URL,
  init: RequestInit | undefined,
  intake: Intake,
  stream: StreamEvents,
): Promise<Response> {
  if (init?.method === 'POST') {
    const { headers, origin } = takeOrigin(init.headers);
    const id = requestIn(init.body);
    if (id !== undefined) intake.sent(id);
    const response = isMessage(init, headers)
      ? await post(url, init, headers, intake)
      : await fetch(url, { ...init, headers });
    if (response.body === null) {
      if (id !== undefined) intake.done(id);
      return response;
    }
    const answer = answered(id, bounded(response, intake, id));
    return origin === undefined ? answer : annotateMessages(origin, answer);
  }
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const { status, headers } = response;
  const admitted = bounded(response, intake, undefined);
  if (init?.method !== 'GET' || !response.ok || !isStream(response) || admitted.body === null) return admitted;
  stream.opened();
  return new Response(
    untilEnd(admitted.body, () => init.signal?.aborted !== true && stream.ended()),
    { status, headers },
  );
}

const isStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true;

/** The same response, of which no more comes than may be handled. */
function bounded(response: Response, intake: Intake, id: string | number | undefined): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const content = isStream(response)
    ? letIn(body, intake, id)
    : response.ok
      ? whole(body, intake, id)
      : upTo(body, MAX_REFUSAL_BYTES);
  const copy = new Response(content, { status, statusText, headers });
  // A copy does not know where it came from; redirects and authorization look at it.
  Object.defineProperty(copy, 'url', { value: response.url });
  return copy;
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
