/** Messages that are sent in both eras over every transport. */
import type { Era } from '../../e2e/harness.ts';
import { until } from '../../e2e/waiting.ts';
import type { Answer, HttpWire, RawHttpRequest } from './answer.ts';
import { type Data, headersIn, INITIALIZED, initialize, isData, request, textIn } from './eras.ts';
import { bothTexts, linesText, section, sent } from './record.ts';
import type { Scene } from './scene.ts';
import { stdioWire } from './wire-stdio.ts';

export interface MessageCase {
  readonly name: string;
  /**
   * Sent one after the other. In text, `$state` and `$cursor` stand for the latest received ones. Text and bytes are sent unchanged,
   * JSON that is written by hand gets its `_meta`, and everything else is JSON with the envelope of its era.
   */
  readonly messages: readonly unknown[];
  /** Default: both. */
  readonly eras?: readonly Era[];
  /** The capabilities that the client declares. Default: none. */
  readonly capabilities?: object;
  /** The client's answers to questions of the server, by method: a result, or an error. */
  readonly replies?: Readonly<Record<string, { readonly result: unknown } | { readonly error: unknown }>>;
  /**
   * Standard input ends only after that many lines of answers to the last message. Default: `events`; without those, after its
   * answer if there are `replies`, and otherwise at once.
   */
  readonly lines?: number;
  /** For endless streams: aborted after that many events. */
  readonly events?: number;
}

/** Cases of one message each, by their names. */
export const cases = (
  named: Readonly<Record<string, unknown>>,
  shared: Omit<MessageCase, 'name' | 'messages'> = {},
): readonly MessageCase[] => Object.entries(named).map(([name, message]) => ({ name, messages: [message], ...shared }));

const ERAS: readonly (readonly [Era, string])[] = [
  ['modern', '2026'],
  ['legacy', '2025'],
];

export async function recordMessages(scene: Scene, table: readonly MessageCase[]): Promise<string> {
  const sections = await inTurns(table, async (each) => {
    const texts: string[] = [];
    for (const [era, year] of ERAS) {
      if (each.eras?.includes(era) === false) continue;
      const [http, fetched, lines] = await Promise.all([
        overHttp(scene.http, era, each),
        overHttp(scene.fetch, era, each),
        overStdio(scene, era, each),
      ]);
      http.forEach((answer, index) => {
        const other = fetched[index];
        if (other !== undefined) texts.push(indentedYear(year, bothTexts(answer, other)));
        texts.push(indentedYear(year, linesText(lines[index] ?? [], answer)));
      });
    }
    return section(each.name, ...each.messages.map(shown), ...texts);
  });
  return sections.join('\n');
}

const indentedYear = (year: string, text: string): string => text.replace(/^(?=\S)/gm, `${year} `);

/** The number of cases that run at the same time, because they mostly wait. Each has its own session and connection. */
const AT_ONCE = 16;

async function inTurns<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE)
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(run))));
  return results;
}

const shown = (message: unknown): string => `> ${sent(textIn('legacy', message).toString('latin1'))}`;

/** A POST of this body. */
const posted = (headers: Readonly<Record<string, string>>, body: Buffer): RawHttpRequest => ({
  method: 'POST',
  path: '/mcp',
  headers: Object.entries({
    host: '127.0.0.1',
    connection: 'close',
    ...headers,
    'content-length': String(body.length),
  }),
  body,
});

/** Begins a session. Gives its id. */
async function beginSession(wire: HttpWire, capabilities?: object): Promise<string> {
  const body = textIn('legacy', initialize(capabilities));
  const { headers } = await wire(posted(headersIn('legacy', body), body)).answer;
  const session = headers.find(([name]) => name === 'mcp-session-id')?.[1];
  if (session === undefined) throw new Error('no session began');
  const ready = textIn('legacy', INITIALIZED);
  await wire(posted(headersIn('legacy', ready, session), ready)).answer;
  return session;
}

async function overHttp(wire: HttpWire, era: Era, each: MessageCase): Promise<readonly Answer[]> {
  const session = era === 'legacy' ? await beginSession(wire, each.capabilities) : undefined;
  const answers: Answer[] = [];
  const replying: Promise<unknown>[] = [];
  const post = (body: Buffer, onEvent?: (data: string) => void) =>
    wire(posted(headersIn(era, body, session), body), onEvent);
  for (const message of each.messages) {
    const exchange = post(textIn(era, filled(message, answers.at(-1)?.body), each.capabilities), (data) => {
      const reply = replyTo(data, each);
      if (reply !== undefined) replying.push(post(Buffer.from(reply)).answer);
    });
    if (each.events !== undefined) {
      await exchange.arrived(each.events);
      exchange.hangUp();
    }
    answers.push(await exchange.answer);
  }
  await Promise.all(replying);
  if (session !== undefined) {
    const headers = Object.entries({ host: '127.0.0.1', connection: 'close', 'mcp-session-id': session });
    await wire({ method: 'DELETE', path: '/mcp', headers, body: undefined }).answer;
  }
  return answers;
}

/** The lines that answer each message. The last message may be answered until the connection ends. */
async function overStdio({ vitrine }: Scene, era: Era, each: MessageCase): Promise<readonly (readonly string[])[]> {
  const wire = stdioWire(vitrine, (line) => {
    const reply = replyTo(line, each);
    if (reply !== undefined) wire.write(`${reply}\n`);
  });
  const send = (message: unknown): void =>
    wire.write(Buffer.concat([textIn(era, message, each.capabilities), Buffer.from('\n')]));
  if (era === 'legacy') {
    send(initialize(each.capabilities));
    send(INITIALIZED);
  } else {
    // Not `server/discover`, which leaves the era of the connection open.
    send(request('resources/templates/list', undefined, { id: 'begin' }));
  }
  await wire.arrived(1);
  const begins: number[] = [];
  for (const [index, message] of each.messages.entries()) {
    const before = wire.lines.length;
    begins.push(before);
    send(filled(message, wire.lines.slice(1).join('\n')));
    const last = index === each.messages.length - 1;
    const { lines = each.events } = each;
    if (!last || (each.replies !== undefined && lines === undefined))
      await until(() => wire.lines.slice(before).some(isAnswer), `the answer to message ${index}`);
    else if (lines !== undefined) await wire.arrived(before + lines);
  }
  await wire.end();
  return begins.map((begin, index) => wire.lines.slice(begin, begins[index + 1]));
}

const isAnswer = (line: string): boolean => {
  const message: unknown = JSON.parse(line);
  return isData(message) && !('method' in message);
};

function replyTo(text: string, { replies = {} }: MessageCase): string | undefined {
  const message: unknown = text === '' ? undefined : JSON.parse(text);
  if (!isData(message) || typeof message.method !== 'string' || message.id === undefined) return undefined;
  const reply = replies[message.method];
  return reply && JSON.stringify({ jsonrpc: '2.0', id: message.id, ...reply });
}

/** With earlier values in place of the placeholders. */
function filled(message: unknown, before = ''): unknown {
  if (!isData(message)) return message;
  const text = JSON.stringify(message, (_key, value: unknown) => (value === undefined ? null : value));
  if (!/"\$(?:state|cursor)"/.test(text)) return message;
  const latest = (key: string): string => [...before.matchAll(new RegExp(`"${key}":"([^"]+)"`, 'g'))].at(-1)?.[1] ?? '';
  return JSON.parse(
    text
      .replace('"$state"', JSON.stringify(latest('requestState')))
      .replace('"$cursor"', JSON.stringify(latest('nextCursor'))),
  ) as Data;
}

/** Gives the state and the cursor that one server seals, for use with another one. */
export async function sealedBy(scene: Scene): Promise<{ readonly state: string; readonly cursor: string }> {
  const ask = async (message: Data): Promise<string> => {
    const body = textIn('modern', message, { elicitation: {} });
    return (await scene.fetch(posted(headersIn('modern', body), body)).answer).body;
  };
  const found = (key: string, body: string): string => new RegExp(`"${key}":"([^"]+)"`).exec(body)?.[1] ?? '';
  return {
    state: found('requestState', await ask(request('tools/call', { name: 'asks-name' }))),
    cursor: found('nextCursor', await ask(request('resources/list'))),
  };
}
