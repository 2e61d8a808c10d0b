import { describe, expect, it, vi } from 'vitest';
import type { ConnectionFault } from './faults.ts';
import { createIntake, type Intake, type IntakeLimits } from './intake.ts';

function intakeOf(limits: IntakeLimits = {}): { intake: Intake; reasons: ConnectionFault[] } {
  const reasons: ConnectionFault[] = [];
  return { intake: createIntake(limits, { cutOff: (reason) => reasons.push(reason) }), reasons };
}

const answer = (id: number | string): object => ({ jsonrpc: '2.0', id, result: {} });
const NOTICE = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };

describe('the messages of a server', () => {
  it('may be any number of answers to requests, of any size', () => {
    const { intake, reasons } = intakeOf({ maxMessagesPerSecond: 10 });
    for (let id = 0; id < 1_000; id++) {
      intake.sent(id);
      expect(intake.take(answer(id), 10_000_000)).toBe(true);
    }
    expect(intake.awaitsAny).toBe(false);
    expect(reasons).toEqual([]);
  });

  it.each([
    ['notices', () => NOTICE],
    ['what is no message', () => undefined],
    ['answers to nothing', answer],
    ['an answer again and again', () => answer(-1)],
    ['questions', (id: number) => ({ id, method: 'ping' })],
    ['questions with the id of a request', () => ({ id: -1, method: 'ping', result: {} })],
    ['answers whose id is of another type', () => answer('-1')],
  ])("may be at most ten seconds' worth of %s at once", (_, message) => {
    const { intake, reasons } = intakeOf({ maxMessagesPerSecond: 100 });
    intake.ready();
    intake.sent(-1);
    let taken = 0;
    while (taken < 10_000 && intake.take(message(taken), 10)) taken++;
    // The time went on during the counting.
    expect(taken).toBeGreaterThanOrEqual(1_000);
    expect(taken).toBeLessThan(2_000);
    expect(intake.take(NOTICE, 10)).toBe(false);
    expect(intake.over).toBe(true);
    expect(reasons.map(({ kind, message }) => [kind, message])).toEqual([
      ['cut-off', expect.stringContaining('sent more than 100 messages')],
    ]);
  });

  it('may be few before the connection is made', () => {
    const { intake, reasons } = intakeOf();
    let taken = 0;
    while (taken < 10_000 && intake.take(undefined, 10)) taken++;
    expect(taken).toBe(500);
    expect(reasons[0]?.message).toContain('before it was connected to');
  });

  it('may not be many large ones that no request asked for', () => {
    const { intake, reasons } = intakeOf();
    let taken = 0;
    while (taken < 1_000 && intake.take(NOTICE, 1_000_000)) taken++;
    expect(taken).toBeLessThan(100);
    expect(reasons).toHaveLength(1);
  });

  it('are awaited as answers to a limited number of requests', () => {
    const { intake } = intakeOf();
    for (let id = 0; id < 20_000; id++) intake.sent(id);
    expect(intake.awaits(0)).toBe(false);
    expect(intake.awaits(19_999)).toBe(true);
  });

  it('cut the server off only once, even if there is another reason', () => {
    const { intake, reasons } = intakeOf();
    intake.cut('first');
    intake.cut('second');
    expect(reasons).toHaveLength(1);
  });
});

it('a server that fills every turn is cut off, however slowly it is read', async () => {
  // An intake reads its clock when it is made, so both are made after the test has replaced the clock.
  vi.useFakeTimers({ toFake: ['performance'] });
  const { intake, reasons } = intakeOf({ maxMessagesPerSecond: 1_000_000 });
  const slow = intakeOf({ maxMessagesPerSecond: 10 });
  intake.ready();
  slow.intake.ready();
  try {
    for (let count = 0; count < 200 && !slow.intake.over; count++) {
      // So much time passes that the rate is never reached.
      vi.advanceTimersByTime(10_000);
      for (const each of [intake, slow.intake]) {
        each.take(NOTICE, 10);
        await each.use(300_000);
      }
    }
  } finally {
    vi.useRealTimers();
  }
  expect(slow.reasons).toHaveLength(1);
  expect(reasons).toEqual([]);
});

describe('a turn', () => {
  it('is used up by messages, and by bytes; the next one has room again', async () => {
    const { intake } = intakeOf();
    let messages = 0;
    let next: Promise<void> | undefined;
    while (next === undefined && messages < 10_000) {
      next = intake.use(10);
      messages++;
    }
    expect(messages).toBeLessThan(100);
    await next;
    expect(intake.use(10)).toBeUndefined();
    expect(intake.use(1_000_000)).toBeInstanceOf(Promise);
  });
});
