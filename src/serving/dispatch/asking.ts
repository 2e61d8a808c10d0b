/**
 * Asks the client for input that a request needs before it has a result. In 2026-07-28 the answer to the request contains the
 * questions, and the client sends the request again with its answers. A client of 2025 is asked while its request is running, and
 * then the request runs again with the answers.
 */

import { specTypeSchemas } from '@modelcontextprotocol/server';
import { sayProblems } from '../../core/text/problems.ts';
import { missingOf, neededFor } from '../../protocol/askable.ts';
import { text } from '../../protocol/content.ts';
import { isData } from '../../protocol/data.ts';
import { INTERNAL_ERROR, MISSING_CAPABILITY } from '../../protocol/error-codes.ts';
import type { InputRequest, InputRequired } from '../../protocol/input-required.ts';
import type { Envelope } from './envelope.ts';
import { RequestRefused } from './methods.ts';

/** The client's answers and state of the latest round, as they were sent. */
export interface Round {
  readonly answers: unknown;
  readonly state: unknown;
}

/** The most rounds of questions of one request. */
const MAX_ROUNDS = 8;

/** How long to wait before the next round if a round has no question, in milliseconds. */
const PACE_MS = 250;

/** The error of a handler whose questions break the protocol. */
const broken = (message: string): RequestRefused => new RequestRefused({ code: INTERNAL_ERROR, message });

/**
 * Checks the questions of a handler.
 * @throws RequestRefused if the questions are malformed, or need a capability that a client of 2026-07-28 has not declared
 */
export function assertAskable(method: string, asked: InputRequired, { era, client }: Envelope): void {
  const requests = Object.entries(asked.inputRequests ?? {});
  if (requests.length === 0 && typeof asked.requestState !== 'string') {
    throw broken(
      `Handler for ${method} returned an input-required result with neither inputRequests nor requestState (every InputRequiredResult must include at least one of the two)`,
    );
  }
  for (const [key, request] of requests) {
    if (!isData(request) || typeof request.method !== 'string') {
      throw broken(
        `Handler for ${method} returned an invalid input request '${key}': each inputRequests entry must be an embedded elicitation/create, sampling/createMessage, or roots/list request`,
      );
    }
    const needed = neededFor(request as InputRequest);
    if (needed === undefined) {
      throw broken(
        `Handler for ${method} returned an input request '${key}' of kind '${request.method}', which is not an embedded request the 2026-07-28 revision defines`,
      );
    }
    const missing = era === 'modern' ? missingOf(needed, client.declared) : undefined;
    if (missing === undefined) continue;
    throw new RequestRefused({
      code: MISSING_CAPABILITY,
      message: `Cannot request input '${key}' (${request.method}): the request's client capabilities do not declare the required capability`,
      data: { requiredCapabilities: missing },
    });
  }
}

/**
 * Returns questions as they are sent in 2026-07-28. Each gets `params`: servers of 2025 leave them out of `roots/list`, and
 * the Go SDK (1.8) fails on a question without them.
 */
export function withParams<T extends { readonly inputRequests?: unknown }>(asked: T): T {
  if (!isData(asked.inputRequests)) return asked;
  const requests = Object.entries(asked.inputRequests).map(([key, request]) => [
    key,
    isData(request) && request.params === undefined ? { ...request, params: {} } : request,
  ]);
  return { ...asked, inputRequests: Object.fromEntries(requests) };
}

/**
 * Asks a client of 2025 all questions of a round.
 * @returns the answers, for the next round; or `failed`, the result of a tool call that cannot go on
 * @throws RequestRefused if a question is malformed, or if a request other than a tool call cannot go on; an error if the request
 *   is cancelled
 */
export async function answersOf(
  method: string,
  { inputRequests = {}, requestState }: InputRequired,
  { client, signal }: Envelope,
  round: number,
): Promise<Round | { readonly failed: object }> {
  const failed = (message: string): { readonly failed: object } => {
    if (method !== 'tools/call') throw broken(message);
    return { failed: { content: [text(message)], isError: true } };
  };
  if (round > MAX_ROUNDS)
    return failed(
      `Multi-round-trip request '${method}' still required input after ${MAX_ROUNDS} rounds (inputRequired.maxRounds)`,
    );
  const requests = Object.entries(inputRequests);
  if (requests.length === 0) {
    await paced(signal);
    return { answers: undefined, state: requestState };
  }
  for (const [key, request] of requests) {
    if (request.method !== 'roots/list' && request.params === undefined)
      throw broken(
        `Handler for ${method} returned an input request '${key}' of kind '${request.method}' without params`,
      );
    if (missingOf(neededFor(request) ?? {}, client.declared) === undefined && client.ask !== undefined) continue;
    return failed(
      `Cannot request input '${key}' (${request.method}): the client on this 2025-era connection did not declare the required capability`,
    );
  }
  // If one question fails, the others are cancelled.
  const together = new AbortController();
  const end = (): void => together.abort(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  try {
    const answers = await Promise.all(
      requests.map(async ([key, request]) => {
        try {
          return [key, await checked(request, await client.ask?.(asIn2025(request), together.signal, true))] as const;
        } catch (error) {
          together.abort(error);
          throw error;
        }
      }),
    );
    return { answers: Object.fromEntries(answers), state: requestState };
  } catch (error) {
    if (signal.aborted) throw error;
    return failed(
      `Fulfilling input required by '${method}' failed: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** The question as a client of 2025 expects it. */
function asIn2025(request: InputRequest): InputRequest {
  if (request.method !== 'elicitation/create') return request;
  const { params } = request;
  if (params.mode === 'url') {
    // In 2025 a question that sends the user to a URL needs an id.
    return params.elicitationId === undefined
      ? { ...request, params: { ...params, elicitationId: crypto.randomUUID() } }
      : request;
  }
  return params.mode === 'form' ? request : { ...request, params: { ...params, mode: 'form' } };
}

/** The schema of the answer to each kind of question. */
const ANSWERS = {
  'elicitation/create': specTypeSchemas.ElicitResult,
  'sampling/createMessage': specTypeSchemas.CreateMessageResultWithTools,
  'roots/list': specTypeSchemas.ListRootsResult,
} as const;

async function checked({ method }: InputRequest, answer: unknown): Promise<unknown> {
  const { issues } = await ANSWERS[method]['~standard'].validate(answer);
  if (issues !== undefined) throw new Error(`Invalid result for ${method}: ${sayProblems(issues)}`);
  return answer;
}

function paced(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve();
    }, PACE_MS);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
