/** Checks of every answer, whatever the request was. */
import { canaryOf, type Place, PRINCIPALS, principalOf, type Who } from './place.ts';

/** A finding: the wrong answer. */
export class Finding extends Error {}

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown };
  readonly method?: unknown;
}

/** Code locations, kinds of exceptions and error codes of the system. An error may contain them only if its request does. */
const INTERNALS =
  /\bat \S+ \(|\bat \S+:\d+:\d+|node_modules|\.ts:\d+|\.js:\d+|\b(?:Type|Range|Reference|Syntax|Zod|UriTemplate)Error\b|Cannot read prop|is not a function|is not iterable|Maximum call stack|\bE(?:NOENT|ACCES|NOTDIR|LOOP|ISDIR|INVAL|NAMETOOLONG|PERM|MFILE)\b/;

/**
 * Checks that a text contains nothing from outside of the served folder, and nothing of another principal.
 * @param request the request, which the text may repeat
 */
export function checkSecrets(place: Place, who: Who | undefined, text: string, request: string): void {
  const leaks = place.scene.leaks(text, request);
  // A leak that is in the request is an echo, such as a path of this process. The markers of hidden files are in no request.
  if (leaks.length > 0 && !leaks.every((leak) => request.includes(leak)))
    throw new Finding(`an escape: ${leaks}: ${cut(text)}`);
  for (const other of PRINCIPALS) {
    if (other !== who && text.includes(canaryOf(principalOf(other).id))) {
      throw new Finding(`content of ${other} was sent to ${who ?? 'an anonymous caller'}: ${cut(text)}`);
    }
  }
}

/** Checks that a message is well-formed, and that an error is not internal and has no internals. */
export function checkMessage(message: unknown, request: string): Message {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    throw new Finding(`not a message: ${cut(JSON.stringify(message))}`);
  }
  const it: Message = message;
  if (it.jsonrpc !== '2.0') throw new Finding(`not JSON-RPC 2.0: ${cut(JSON.stringify(it))}`);
  if (it.method !== undefined) return it;
  if ((it.result === undefined) === (it.error === undefined)) {
    throw new Finding(`neither a result nor an error, or both: ${cut(JSON.stringify(it))}`);
  }
  if (it.error === undefined) return it;
  const { code, message: text } = it.error;
  if (!Number.isSafeInteger(code) || typeof text !== 'string' || text === '') {
    throw new Finding(`an error without a valid code and message: ${cut(JSON.stringify(it))}`);
  }
  if (code === -32_603) throw new Finding(`an internal error: ${cut(JSON.stringify(it))}`);
  const words = JSON.stringify(it.error);
  const found = INTERNALS.exec(words)?.[0];
  if (found !== undefined && !request.includes(found))
    throw new Finding(`internals (${found}) in an error: ${cut(words)}`);
  return it;
}

/** Checks that each id is answered exactly once, and nothing else is answered. */
export function checkAnswers(messages: readonly Message[], expected: readonly (string | number)[]): void {
  const answered = messages
    .filter((message) => message.method === undefined)
    .map((message) => JSON.stringify(message.id));
  const wanted = expected.map((id) => JSON.stringify(id));
  if (answered.toSorted().join() !== wanted.toSorted().join()) {
    throw new Finding(
      `asked [${cut(wanted.join())}] and answered [${cut(answered.join())}]: ${cut(JSON.stringify(messages))}`,
    );
  }
}

/** The ids of the requests in a parsed body; undefined if a message is neither a notification nor a request with a usable id. */
export function idsOf(body: unknown): readonly (string | number)[] | undefined {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  const ids: (string | number)[] = [];
  for (const message of messages) {
    if (typeof message !== 'object' || message === null) return undefined;
    const { id, method, jsonrpc } = message as Message;
    if (jsonrpc !== '2.0' || typeof method !== 'string') return undefined;
    if (id === undefined) continue;
    if (typeof id !== 'string' && !Number.isSafeInteger(id)) return undefined;
    ids.push(id as string | number);
  }
  return ids;
}

export const cut = (text: string | undefined): string =>
  text === undefined || text.length <= 600 ? String(text) : `${text.slice(0, 600)}… (${text.length})`;
