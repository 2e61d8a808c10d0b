/** The header `Retry-After`, for answers that are JSON errors. An event stream has sent its headers already. */
import { retryAfterOf } from '../../core/admission.ts';

/** The header for an error that says when to try again; no header for any other error. */
export function retryHeaders(error: unknown): Readonly<Record<string, string>> {
  const ms = retryAfterOf(error);
  return ms === undefined ? {} : { 'Retry-After': String(Math.ceil(ms / 1_000)) };
}
