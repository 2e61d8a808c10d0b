import { describe, expect, it } from 'vitest';
import { letIn, upTo } from './events.ts';
import { type ConnectionFault, UNANSWERED } from './faults.ts';
import { requestIn } from './http.ts';
import { createIntake, type Intake, type IntakeLimits } from './intake.ts';
import { ORIGIN_META_KEY } from './message-origin.ts';

function intakeOf(limits: IntakeLimits = {}): { intake: Intake; reasons: ConnectionFault[] } {
  const reasons: ConnectionFault[] = [];
  return { intake: createIntake(limits, { cutOff: (reason) => reasons.push(reason) }), reasons };
}

/** An endless body that counts the bytes that were read. */
function endless(text: string): { body: ReadableStream<Uint8Array>; read(): number } {
  let chunks = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      chunks++;
      controller.enqueue(Buffer.from(text));
    },
  });
  return { body, read: () => chunks };
}

const bodyOf = (...chunks: readonly (string | Buffer)[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(Buffer.from(chunk as string));
      controller.close();
    },
  });

const textOf = (body: ReadableStream<Uint8Array>): Promise<string> => new Response(body).text();

describe('a stream of events', () => {
  it.each([
    ['\n', 1],
    ['\n', 5],
    ['\r\n', 1],
    ['\r\n', 3],
    ['\r\n', 10_000],
    ['\r', 2],
  ])('is unchanged for lines that end with %j, in pieces of %i', async (end, size) => {
    const text = [
      `: hello${end}${end}`,
      `id: 1${end}data: {"a":${end}data: 1}${end}${end}`,
      `data: ü${end}${end}`,
    ].join('');
    const bytes = Buffer.from(text);
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
    const { intake, reasons } = intakeOf();
    // If a line ends with a carriage return, only the next character tells whether the line end is complete.
    const given = end === '\r' ? text.replaceAll('\r\r', '\r\r\n') : text;
    expect(await textOf(letIn(bodyOf(...chunks), intake, { id: 7 }))).toBe(given);
    expect(reasons).toEqual([]);
  });

  it.each([
    ['data: 1\r\n\r\n', []],
    ['data: 1\r\n\r', ['\ndata: 2\r\n\r\n']],
    ['data: 1\r\n', ['\r', '\n', 'data: 2\r\n', '\r\n']],
  ])('gives an event with CR LF when it is complete, not with the next one: %j, then %j', async (first, later) => {
    const { intake } = intakeOf();
    const chunks = [first, ...later].map((chunk) => Buffer.from(chunk));
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const chunk = chunks.shift();
        // Without another chunk, the stream stays open.
        return chunk === undefined ? new Promise(() => {}) : controller.enqueue(chunk);
      },
    });
    const reader = letIn(body, intake, { id: 7 }).getReader();
    const decoder = new TextDecoder();
    expect(decoder.decode((await reader.read()).value)).toBe('data: 1\r\n\r\n');
    if (later.length > 0) expect(decoder.decode((await reader.read()).value)).toBe('data: 2\r\n\r\n');
    await reader.cancel();
  });

  it.each([
    'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n',
    ':\n\n',
    'data: no JSON\n\n',
    'data: {"jsonrpc":"2.0","id":99,"result":{}}\n\n',
  ])('that floods is cut off: %j', async (event) => {
    const { intake, reasons } = intakeOf({ maxMessagesPerSecond: 10 });
    const { body, read } = endless(event.repeat(50));
    await expect(textOf(letIn(body, intake, { id: 7 }))).rejects.toThrow('cut off');
    expect(reasons).toHaveLength(1);
    expect(read()).toBeLessThan(100);
  });

  it('is not read faster than its reader takes it', async () => {
    const { intake } = intakeOf();
    const { body, read } = endless('data: 1\n\n'.repeat(10));
    const reader = letIn(body, intake, { id: 7 }).getReader();
    await reader.read();
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(read()).toBeLessThan(5);
    await reader.cancel();
  });

  it('leaves turns to other work between many messages', async () => {
    const { intake } = intakeOf();
    intake.ready();
    let turns = 0;
    let counting = true;
    const count = (): void => {
      turns++;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    await textOf(letIn(bodyOf('data: 1\n\n'.repeat(2_000)), intake, { id: 7 }));
    counting = false;
    expect(turns).toBeGreaterThan(20);
  });

  it('with an answer over a limit has an error for its request', async () => {
    const { intake, reasons } = intakeOf({ maxMessageBytes: 100 });
    intake.sent(7);
    const text = await textOf(letIn(bodyOf('data: "ok"\n\n', `data: ${'x'.repeat(200)}`), intake, { id: 7 }));
    expect(text).toContain('"id":7,"error":{"code":-31998');
    expect(text).toContain('"ok"');
    expect(intake.awaits(7)).toBe(false);
    expect(reasons).toEqual([]);
  });

  it('of no request, with a message over a limit, is cut off', async () => {
    const { intake, reasons } = intakeOf({ maxMessageBytes: 100 });
    await expect(textOf(letIn(bodyOf(`data: ${'x'.repeat(200)}\n\n`), intake))).rejects.toThrow('cut off');
    expect(reasons).toHaveLength(1);
  });

  it('of a server that is cut off ends at once', async () => {
    const { intake } = intakeOf();
    intake.cut('did something');
    await expect(textOf(letIn(bodyOf('data: 1\n\n'), intake, { id: 7 }))).rejects.toThrow('cut off');
  });
});

const LOGGED = 'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}\n\n';
const ANSWERED = 'data: {"jsonrpc":"2.0","id":7,"result":{}}\n\n';

describe('the stream of the answer to a request', () => {
  /** Gives a text character by character, and then ends, or fails with `broken`. */
  const streamOf = (text: string, broken?: Error): ReadableStream<Uint8Array> => {
    const left = [...text].map((each) => Buffer.from(each));
    return new ReadableStream({
      pull(controller) {
        const next = left.shift();
        if (next !== undefined) controller.enqueue(next);
        else if (broken === undefined) controller.close();
        else controller.error(broken);
      },
    });
  };
  const given = (text: string, broken?: Error): Promise<string> =>
    textOf(letIn(streamOf(text, broken), intakeOf().intake, { id: 7 }));

  it.each([
    ['nothing', ''],
    ['a message of another kind', LOGGED],
    ['words of an answer in another message', LOGGED.replace('"info"', '"info","data":{"id":7,"result":1}')],
    ['the answer of another request', ANSWERED.replace('7', '8')],
    ['half an answer', 'data: {"id":7,"result"'],
  ])('ends with an error for the request if there is %s on it', async (_, text) => {
    const error = `"id":7,"error":{"code":${UNANSWERED}`;
    expect(await given(text)).toContain(error);
    expect(await given(text, new Error('cut'))).toContain(error);
  });

  it.each([
    ['its answer', ANSWERED],
    ['an event to come back for', 'id: 1\ndata: {}\n\n'],
    ['an event to come back for, which has nothing else', 'id: 1\n\n'],
  ])('ends unchanged if there is %s on it', async (_, text) => {
    expect(await given(text)).toBe(text);
    expect(await given(text, new Error('cut'))).toBe(text);
  });

  it('may end without the empty line after the answer', async () => {
    expect(await given(ANSWERED.trimEnd())).toBe(ANSWERED);
  });

  it('has its origin added to each log message, and other fields of events unchanged', async () => {
    const text = `id: 1\nevent: message\n${LOGGED}${ANSWERED}`;
    const marked = LOGGED.replace('"info"', `"info","_meta":{"${ORIGIN_META_KEY}":"mine"}`);
    const { intake } = intakeOf();
    expect(await textOf(letIn(streamOf(text), intake, { id: 7, origin: 'mine' }))).toBe(
      `id: 1\nevent: message\n${marked}${ANSWERED}`,
    );
  });
});

it('a body has the id of its request, and none if it asks for a stream of changes or is no request', () => {
  expect(requestIn(JSON.stringify({ id: 7, method: 'tools/call' }))).toBe(7);
  expect(requestIn(JSON.stringify({ id: 'listen:0', method: 'subscriptions/listen' }))).toBeUndefined();
  expect(requestIn(JSON.stringify({ method: 'notifications/cancelled' }))).toBeUndefined();
  expect(requestIn(JSON.stringify({ id: 7, result: {} }))).toBeUndefined();
});

it('content that is read up to a limit breaks off there', async () => {
  expect(await textOf(upTo(bodyOf('12345', '67890'), 10))).toBe('1234567890');
  expect(await textOf(upTo(bodyOf('12345', '67890', '1'), 10))).toBe('1234567890');
  const { body, read } = endless('x'.repeat(1_000));
  await textOf(upTo(body, 10_000));
  expect(read()).toBeLessThan(20);
});
