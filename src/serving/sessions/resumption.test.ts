import { describe, expect, it } from 'vitest';
import { keepEvents } from './resumption.ts';

describe('the events of a session', () => {
  it('are sent again after the last one that the client has, from its stream only, and without events that only give an id', () => {
    const kept = keepEvents();
    const first = kept.add('a', '');
    const second = kept.add('a', 'one');
    kept.add('b', 'other');
    kept.add('a', '');
    const last = kept.add('a', 'two');
    expect(kept.after(first)).toEqual([
      [second, 'one'],
      [last, 'two'],
    ]);
    expect(kept.after(last)).toEqual([]);
    expect(kept.streamOf(last)).toBe('a');
  });

  it.each([
    ['in number', { maxEvents: 3 }],
    ['in bytes', { maxBytes: 6 }],
  ])('are bounded %s: the oldest are forgotten', (_what, options) => {
    const kept = keepEvents(options);
    const ids = Array.from({ length: 5 }, (_, at) => kept.add('a', `m${at}`));
    expect(ids.map(kept.streamOf)).toEqual([undefined, undefined, 'a', 'a', 'a']);
    expect(kept.after(ids[0] ?? '')).toEqual([]);
  });

  it('that are larger than the limit are not kept, and do not count', () => {
    const kept = keepEvents({ maxBytes: 100 });
    const large = kept.add('a', 'x'.repeat(200));
    const small = kept.add('a', 's');
    expect(kept.streamOf(large)).toBeUndefined();
    expect(kept.streamOf(small)).toBe('a');
  });
});
