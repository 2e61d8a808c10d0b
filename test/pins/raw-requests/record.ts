/** Writes answers as text for review. Values that differ between runs get names and numbers. */
import { createHash } from 'node:crypto';
import { type Answer, eventsIn } from './answer.ts';
import { envelope } from './eras.ts';
import { LAST_MODIFIED } from './scene.ts';
import { UNSAYABLE } from './wire-fetch.ts';

/** Headers that belong to the framing: lengths of bodies differ between transports. */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n')
    .trimEnd();

/** Status, headers and body. */
export function answerText({ status, headers, body, open }: Answer, framing = true): string {
  if (status === UNSAYABLE) return 'cannot be said';
  if (status === 0) return 'no answer';
  // The framing of a stream depends on how soon it ends.
  const streams = headers.some(([name, value]) => name === 'content-type' && value === 'text/event-stream');
  const shown = headers.filter(([name]) => (framing && !streams) || !FRAMING.has(name));
  return [
    `${status}${open ? ', still open' : ''}`,
    ...shown.map(([name, value]) => indented(`${name}: ${value}`)),
    ...(body === '' ? [] : [indented(visible(body))]),
  ].join('\n');
}

/** Writes the answers of both ways of HTTP: the second one only if it differs. */
export function bothTexts(http: Answer, fetched: Answer): string {
  const same = placeholders(answerText(http, false)) === placeholders(answerText(fetched, false));
  return `http ${answerText(http)}\nfetch ${same ? 'the same' : answerText(fetched)}`;
}

/** Lines of standard output, unless they are the messages of that answer. */
export function linesText(lines: readonly string[], http?: Answer): string {
  if (lines.length === 0) return 'stdio nothing';
  const messages = http && (http.body.startsWith('{') ? [http.body] : eventsIn(http.body).filter(Boolean));
  if (messages !== undefined && placeholders(messages.join('\n')) === placeholders(lines.join('\n')))
    return 'stdio the same';
  return `stdio\n${indented(visible(lines.join('\n')))}`;
}

/** Writes hashes for images, counts for long runs, and escapes for invisible characters. */
export const visible = (text: string): string =>
  text
    .replace(
      /(?<=;base64,)[\w+/=]{60,}/g,
      (data) => `<sum ${createHash('sha256').update(data).digest('hex').slice(0, 12)}>`,
    )
    .replace(/(.)\1{199,}/gs, (run, character: string) => `${character}...(${run.length} times)`)
    .replace(/(\[|\{"a":|\])(?:\1){49,}/g, (run, unit: string) => `${unit}...(${run.length / unit.length} times)`)
    .replace(/[^\n\x20-\x7e]/g, (character) =>
      /[\p{L}]/u.test(character) ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );

/** The values that differ between runs, by their placeholders. */
const VOLATILE: readonly (readonly [name: string, pattern: RegExp, is: (found: string) => boolean])[] = [
  ['id', /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, () => true],
  ['sealed', /[\w-]{44,}/g, isSealed],
  ['time', /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (found) => found !== LAST_MODIFIED],
  ['event', /(?<=\n {2}id: )\S+/g, () => true],
];

/**
 * Numbers the values of one case that differ between runs, so that equal values have equal numbers. Sealed values get no number, because
 * a kept list may be given again with its earlier cursor.
 */
export function placeholders(text: string): string {
  return VOLATILE.reduce((rest, [name, pattern, is]) => {
    const known = new Map<string, number>();
    return rest.replace(pattern, (found) => {
      if (!is(found)) return found;
      if (name === 'sealed') return '<sealed>';
      const number = known.get(found) ?? known.size + 1;
      known.set(found, number);
      return `<${name} ${number}>`;
    });
  }, text);
}

/** A cursor or state begins with the kind of its format, and with the second in which it expires. */
function isSealed(token: string): boolean {
  const bytes = Buffer.from(token, 'base64url');
  const [form = 0] = bytes;
  const expires = bytes.readUInt32BE(1) * 1_000;
  const isNear = (time: number): boolean => Math.abs(expires - time) < 86_400_000;
  return (form === 1 || form === 2) && (isNear(Date.now()) || isNear(0));
}

/** The most characters of a message that are searched for parts with a shorter form. */
const MAX_SHOWN = 1_000_000;

const ENVELOPE = JSON.stringify(envelope());

/** Writes a request on one line, with a name for a correct envelope. */
export const sent = (text: string): string =>
  text.length > MAX_SHOWN
    ? `${text.slice(0, 60)}...(${text.length} characters)`
    : visible(text).replaceAll('\n', '\\n').replaceAll(ENVELOPE, '<envelope>');

/** One case of a record. */
export const section = (name: string, ...parts: readonly string[]): string =>
  placeholders(`== ${name}\n${parts.join('\n')}\n`);
