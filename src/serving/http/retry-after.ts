/** `Retry-After`, where a response can still say it: beside an error that is JSON, not within a stream of events. */
import { retryAfterOf } from '../../core/admission.ts';

/** In seconds, for the requests whose answers the SDK sends. */
const noted = new WeakMap<Request, string>();

const secondsOf = (error: unknown): string | undefined => {
  const ms = retryAfterOf(error);
  return ms === undefined ? undefined : String(Math.ceil(ms / 1_000));
};

/** The header for an error that says when to try again; none for any other. */
export function retryHeaders(error: unknown): Readonly<Record<string, string>> {
  const seconds = secondsOf(error);
  return seconds === undefined ? {} : { 'Retry-After': seconds };
}

/** Keeps what an error says, for the response to its request. */
export function noteRetry(request: Request | undefined, error: unknown): void {
  const seconds = secondsOf(error);
  if (request !== undefined && seconds !== undefined) noted.set(request, seconds);
}

/** The response, with what was kept for it. */
export function withRetryAfter(request: Request, response: Response): Response {
  const seconds = noted.get(request);
  if (seconds === undefined || !response.headers.get('content-type')?.startsWith('application/json')) return response;
  response.headers.set('Retry-After', seconds);
  return response;
}
