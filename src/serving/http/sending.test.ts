import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLimits } from '../../layers/limits/index.ts';
import { holdUntilSent, willAnswer } from './sending.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  expect(vi.getTimerCount(), 'timers that are left').toBe(0);
  vi.useRealTimers();
});

/** A request whose response is sent when the test says so, and what is held for it. */
function scene() {
  const { admission } = createLimits();
  let held = 0;
  const counting = {
    ...admission,
    answer: (bytes: number) => {
      held += bytes;
      return () => {
        held -= bytes;
      };
    },
  };
  const request = new Request('http://127.0.0.1/');
  const response = Object.assign(new EventEmitter(), { closed: false });
  willAnswer(request, response as unknown as ServerResponse);
  return { admission: counting, request, response, held: () => held };
}

const large = 'x'.repeat(100_000);

describe('an answer that has been made [RES-7]', () => {
  it.each([
    ['a text', { contents: [{ text: large }] }, 100_000],
    ['bytes', { contents: [{ blob: large }, { blob: large }] }, 200_000],
    ['what a tool gives', { content: [{ type: 'text', text: large }, { type: 'image', data: large }, null] }, 200_000],
    ['little', { contents: [{ text: 'hello' }] }, 0],
    ['no contents', { resources: [{ name: large }] }, 0],
  ])('counts until it is sent: %s', (_what, result, characters) => {
    const { admission, request, response, held } = scene();
    holdUntilSent(admission, request, result);
    expect(held()).toBe(characters);
    response.emit('close');
    expect(held()).toBe(0);
  });

  it('counts for a while where its client does not take it', () => {
    const { admission, request, response, held } = scene();
    holdUntilSent(admission, request, { contents: [{ text: large }] });
    vi.advanceTimersByTime(29_999);
    expect(held()).toBe(100_000);
    vi.advanceTimersByTime(1);
    expect(held()).toBe(0);
    response.emit('close');
  });

  it('does not count where its client has gone, or nobody knows when it is sent', () => {
    const { admission, request, response, held } = scene();
    response.closed = true;
    holdUntilSent(admission, request, { contents: [{ text: large }] });
    holdUntilSent(admission, new Request('http://127.0.0.1/'), { contents: [{ text: large }] });
    holdUntilSent(admission, undefined, { contents: [{ text: large }] });
    expect(held()).toBe(0);
  });
});
