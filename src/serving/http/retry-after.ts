/** `Retry-After`, where an answer can still say it: beside an error that is JSON, not within a stream of events. */
import { retryAfterOf } from '../../core/admission.ts';

/** The header for an error that says when to try again; none for any other. */
export function retryHeaders(error: unknown): Readonly<Record<string, string>> {
  const ms = retryAfterOf(error);
  return ms === undefined ? {} : { 'Retry-After': String(Math.ceil(ms / 1_000)) };
}
