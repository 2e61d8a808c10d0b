/** How the body of a request may be written: it is JSON, and JSON is UTF-8 (RFC 8259 8.1). */

import type { HttpRequest } from './exchange.ts';

/** What is wrong with the headers that say how the body is written, for a 415; undefined when nothing is. */
export function bodyFormProblem(headers: HttpRequest['headers']): string | undefined {
  const [type, ...parameters] = (headers.get('content-type') ?? '').toLowerCase().split(';');
  if (type?.trim() !== 'application/json') return 'The Content-Type must be application/json';
  const charset = parameters.map((each) => /^\s*charset\s*=\s*"?([^"]*?)"?\s*$/.exec(each)?.[1]).find(Boolean);
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') return 'The charset must be utf-8';
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  return coding === 'identity' || coding === '' ? undefined : 'The body must have no Content-Encoding';
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The text of a body; undefined when it is not UTF-8: with other bytes in their place it would say something else. */
export function textOf(body: Uint8Array): string | undefined {
  try {
    return decoder.decode(body);
  } catch {
    return undefined;
  }
}
