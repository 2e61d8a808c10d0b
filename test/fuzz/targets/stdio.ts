/** A program of its own behind pipes, in both eras: lines of all kinds, and an answer to each request. */

import { isJSONRPCRequest, type JSONRPCMessage } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { ERAS, type Era } from '../../e2e/harness.ts';
import { INITIALIZE, type RawStdio, startStdio } from '../../e2e/raw.ts';
import { within } from '../../e2e/waiting.ts';
import { type Data, message, type Twist, textOf, twist } from '../messages.ts';
import { checkMessage, checkSecrets, Finding } from '../oracles.ts';
import { cursorsOf, GOOD, type Place } from '../place.ts';
import { enveloped } from '../requests.ts';
import type { Target } from './target.ts';

interface Line {
  readonly message: Data;
  readonly twist: Twist;
  /** Whether the request gets an id that identifies its answer. */
  readonly counted: boolean;
}

/** The program of an era, started on demand and again after it was ended. */
interface Program {
  readonly raw: RawStdio;
  readonly started: number;
  /** The number of output lines that were checked. */
  seen: number;
}

/** A program is ended, and another one started, after this time in milliseconds. */
const MAX_AGE_MS = 30_000;

export interface StdioTarget extends Target, AsyncDisposable {}

export function stdioTarget(place: Place, args: readonly string[]): StdioTarget {
  const programs = new Map<Era, Program>();
  // Higher than the ids in messages.
  let last = 10_000_000;

  async function programOf(era: Era): Promise<Program> {
    const known = programs.get(era);
    if (known !== undefined && Date.now() - known.started < MAX_AGE_MS) return known;
    if (known !== undefined) await end(era, known);
    const raw = startStdio(era, args);
    // `end` waits for this promise. Until then, its rejection counts as handled.
    raw.exited.catch(() => {});
    const program: Program = { raw, started: Date.now(), seen: 0 };
    programs.set(era, program);
    if (era === 'legacy') {
      await raw.request(0, 'initialize', INITIALIZE);
      raw.notify('notifications/initialized');
    }
    return program;
  }

  async function end(era: Era, { raw }: Program): Promise<void> {
    programs.delete(era);
    raw.end();
    const { code, signal } = await within(raw.exited, 'the end of a program whose input ended');
    if (code !== 0) throw new Finding(`the program ended with ${code ?? signal}: ${raw.stderr().slice(-2_000)}`);
    await raw[Symbol.asyncDispose]();
  }

  async function run(era: Era, lines: readonly Line[]): Promise<void> {
    const program = await programOf(era);
    try {
      await exchange(program, era, lines);
    } catch (error) {
      programs.delete(era);
      await program.raw[Symbol.asyncDispose]();
      throw error;
    }
  }

  async function exchange(program: Program, era: Era, lines: readonly Line[]): Promise<void> {
    const { raw } = program;
    const wanted: number[] = [];
    const said: string[] = [];
    for (const line of lines) {
      const counted = line.counted && line.twist[0] === 'none' && isRequest(line.message);
      const own = counted ? { ...line.message, id: ++last } : line.message;
      if (counted) wanted.push(last);
      const written = textOf(era === 'modern' ? enveloped(own) : own, line.twist);
      said.push(written);
      raw.write(`${written}\n`);
    }
    const good = ++last;
    const { result } = await raw.request(good, 'resources/read', { uri: GOOD.uri });
    if (!JSON.stringify(result ?? null).includes(GOOD.text))
      throw new Finding(`a plain read is answered with ${JSON.stringify(result)}`);
    for (const id of wanted)
      await raw.line(
        (each) => 'id' in each && each.id === id && !('method' in each),
        `the answer to ${said.join('\n').slice(0, 2_000)}`,
      );
    const answers = new Map<unknown, number>();
    for (const text of raw.lines.slice(program.seen)) {
      checkSecrets(place, undefined, text, said.join('\n'));
      const parsed = checkMessage(JSON.parse(text) as JSONRPCMessage, said.join('\n'));
      if (parsed.method === undefined) answers.set(parsed.id, (answers.get(parsed.id) ?? 0) + 1);
    }
    program.seen = raw.lines.length;
    for (const id of [...wanted, good])
      if (answers.get(id) !== 1) throw new Finding(`${id} is answered ${answers.get(id) ?? 0} times`);
  }

  const line = fc.record({ message: message(cursorsOf(place)), twist, counted: fc.boolean() });
  return {
    name: 'stdio',
    share: 0.01,
    property: fc.asyncProperty(fc.constantFrom(...ERAS), fc.array(line, { minLength: 1, maxLength: 6 }), run),
    async [Symbol.asyncDispose]() {
      for (const [era, program] of [...programs]) await end(era, program);
    },
  };
}

/**
 * Whether a request has its own answer, soon: not a stream of changes, not a second handshake. The SDK's transport drops messages that
 * its schema does not accept.
 */
function isRequest(data: Data): boolean {
  if (data.method === 'subscriptions/listen' || data.method === 'initialize') return false;
  return isJSONRPCRequest({ ...data, id: 1 });
}
