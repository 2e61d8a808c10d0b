/** Requests over HTTP that differ in headers, methods and bodies, one after the other in one session. */
import type { Answer, HttpWire, RawHttpRequest } from './answer.ts';
import { textIn } from './eras.ts';
import { bothTexts, section, sent } from './record.ts';
import type { Scene } from './scene.ts';

export interface HttpStep {
  /** Default: POST. */
  readonly method?: string;
  readonly path?: string;
  /**
   * Beside those that every request has (`BASE`), or in place of them; undefined leaves one out, several values are sent
   * as several headers. `$session`, `$event` and `$first` stand for the latest session, its latest event, and the first of that answer.
   */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Sent unchanged if it is text or bytes, otherwise as JSON. */
  readonly body?: unknown;
  /** Aborts the stream after that many events. Default: reads it to its end. */
  readonly events?: number;
  /** Continues with the next step after that many events. The rest is read at the end. */
  readonly after?: number;
  /** Whether the record leaves this step out, because other cases record it. */
  readonly unsaid?: boolean;
}

export interface HttpCase {
  readonly name: string;
  readonly steps: readonly HttpStep[];
}

/** Cases of one request each, by their names. */
export const steps = (named: Readonly<Record<string, HttpStep>>): readonly HttpCase[] =>
  Object.entries(named).map(([name, step]) => ({ name, steps: [step] }));

const BASE: Readonly<Record<string, string>> = {
  host: '127.0.0.1',
  connection: 'close',
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

export const IN_SESSION = { 'mcp-session-id': '$session', 'mcp-protocol-version': '2025-11-25' } as const;

/** Runs each case over both ways, one after the other, so that changes in one are not reported in the other. */
export async function recordHttp(scene: Scene, table: readonly HttpCase[]): Promise<string> {
  const sections: string[] = [];
  for (const each of table) {
    const http = await run(scene.http, each.steps);
    const fetched = await run(scene.fetch, each.steps);
    const texts = each.steps.flatMap((step, index) => {
      const [answer, other] = [http[index], fetched[index]];
      if (step.unsaid === true || answer === undefined || other === undefined) return [];
      return `${shown(step)}\n${bothTexts(answer, other)}`;
    });
    sections.push(section(each.name, ...texts));
  }
  return sections.join('\n');
}

/** Describes the request: the differences from `BASE`. */
function shown({ method = 'POST', path = '/mcp', headers = {}, body, events, after }: HttpStep): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [`> no ${name}`] : [value].flat().map((each) => `> ${name}: ${sent(each)}`),
  );
  const until = [
    ...(events === undefined ? [] : [`given up after ${events} events`]),
    ...(after === undefined ? [] : ['read while others follow']),
  ];
  return [
    `> ${method} ${sent(path)}${until.map((each) => `, ${each}`).join('')}`,
    ...lines,
    ...(body === undefined ? [] : [`> ${sent(textIn('legacy', body).toString('latin1'))}`]),
  ].join('\n');
}

interface Latest {
  session: string;
  first: string;
  event: string;
}

async function run(wire: HttpWire, list: readonly HttpStep[]): Promise<readonly Answer[]> {
  const latest: Latest = { session: 'none', first: 'none', event: 'none' };
  const ends: (() => Promise<Answer>)[] = [];
  for (const step of list) {
    const exchange = wire(askedBy(step, latest));
    const end = async (): Promise<Answer> => {
      if (step.events !== undefined) {
        await exchange.arrived(step.events);
        exchange.hangUp();
      }
      const answer = await exchange.answer;
      latest.session = answer.headers.find(([name]) => name === 'mcp-session-id')?.[1] ?? latest.session;
      const events = [...answer.body.matchAll(/^id: (\S+)$/gm)].map(([, id = '']) => id);
      latest.first = events[0] ?? latest.first;
      latest.event = events.at(-1) ?? latest.event;
      return answer;
    };
    if (step.after !== undefined) {
      await exchange.arrived(step.after);
      ends.push(end);
    } else {
      const answer = await end();
      ends.push(async () => answer);
    }
  }
  return Promise.all(ends.map((end) => end()));
}

function askedBy(step: HttpStep, latest: Readonly<Latest>): RawHttpRequest {
  const { method = 'POST', path = '/mcp', headers = {} } = step;
  const filled = (text: string): string =>
    text.replace(/\$(session|first|event)/g, (_whole, which: keyof Latest) => latest[which]);
  const body = step.body === undefined ? undefined : bodyOf(step.body, filled);
  const sized = body === undefined || 'transfer-encoding' in headers ? {} : { 'content-length': String(body.length) };
  const all = Object.entries({ ...BASE, ...sized, ...headers });
  return {
    method,
    path,
    headers: all.flatMap(([name, value]) => [value ?? []].flat().map((each): [string, string] => [name, filled(each)])),
    body,
  };
}

const bodyOf = (body: unknown, filled: (text: string) => string): Buffer =>
  Buffer.isBuffer(body) ? body : Buffer.from(filled(textIn('legacy', body).toString()));
