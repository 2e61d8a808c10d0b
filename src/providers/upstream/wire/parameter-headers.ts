/** Repeats arguments of a tool call in HTTP headers if the tool wants that (SEP-2243), for proxies that route by them. */

import type { HeaderParameter } from '../../../core/schema/header-parameters.ts';
import { isData } from '../../../protocol/data.ts';

/** Characters that stand for themselves in a header. */
const PLAIN = /^[\u0021-\u007e](?:[\u0020-\u007e]*[\u0021-\u007e])?$/;

/** Returns the headers of a call by name; a missing argument has none. */
export function parameterHeaders(
  declared: readonly HeaderParameter[],
  args: unknown,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const { header, path } of declared) {
    const value = path.reduce<unknown>((at, key) => (isData(at) && Object.hasOwn(at, key) ? at[key] : undefined), args);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
    headers[`Mcp-Param-${header}`] = encode(String(value));
  }
  return headers;
}

const encode = (value: string): string =>
  PLAIN.test(value) && !value.startsWith('=?') ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
