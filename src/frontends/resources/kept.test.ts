/** How much is kept, and what is never kept. */
import { describe, expect, it } from 'vitest';
import { markRepeatable } from '../../core/again.ts';
import { textBytes } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import { writtenMembers } from '../../core/text/written.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { createKeptAnswers } from './kept.ts';

const ctx = createContext();
const WANT = { maxBytes: 1_000_000, maxChildren: 10 };

/** A provider that always gives everything again. */
const willing = { ...memoryProvider(), again: () => true };

const given = (text: string) => {
  const resource = { uri: 'memory:///a', name: 'a' };
  return [{ uri: 'memory:///a', bodies: markRepeatable([{ resource, content: textBytes(text) }]), want: WANT }];
};

describe('kept answers', () => {
  it('are given again in the same JSON', () => {
    const kept = createKeptAnswers(willing, 1_000_000);
    const result = { contents: ['é"'], ttlMs: 0, cacheScope: 'private' };
    expect(kept?.keep('a:b', given('é"'), result)).toBe(result);
    expect(writtenMembers(result)).toBe('"contents":["é\\""]');
    expect(kept?.again('a:b', ctx)).toBe('"contents":["é\\""]');
    expect(kept?.again('a:c', ctx)).toBeUndefined();
  });

  it('take no more than their bytes: the least recently used ones go', () => {
    const kept = createKeptAnswers(willing, 100_000);
    for (let at = 0; at < 100; at++) {
      kept?.keep(`a:${at}`, given('x'.repeat(5_000)), { text: 'x'.repeat(5_000) });
      expect(kept?.again('a:0', ctx), `a:0 after ${at}`).toBeDefined();
    }
    const there = Array.from({ length: 100 }, (_, at) => kept?.again(`a:${at}`, ctx)).filter((each) => each);
    expect(there.length).toBeGreaterThan(2);
    expect(there.length * 15_000).toBeLessThan(100_000);
    expect(kept?.again('a:1', ctx)).toBeUndefined();
  });

  it('do not include large ones, and those about which no provider can be asked', () => {
    const kept = createKeptAnswers(willing, 16_000_000);
    for (const [from, text] of [
      [given('x'.repeat(300_000)), 'x'],
      [given('x'), 'x'.repeat(300_000)],
      [given('x').map((each) => ({ ...each, bodies: [...each.bodies] })), 'x'],
    ] as const) {
      const result = { text };
      expect(kept?.keep('a:b', from, result)).toBe(result);
      expect(kept?.again('a:b', ctx)).toBeUndefined();
    }
  });

  it('are replaced by later reads', () => {
    const kept = createKeptAnswers(willing, 1_000_000);
    kept?.keep('a:b', given('x'), { text: 'old' });
    kept?.keep('a:b', given('x'), { text: 'new' });
    expect(kept?.again('a:b', ctx)).toBe('"text":"new"');
  });

  it('do not exist if no provider can be asked, or there is no room', () => {
    const { again: _, listAgain: __, ...mute } = memoryProvider();
    expect(createKeptAnswers(mute, 1_000_000)).toBeUndefined();
    expect(createKeptAnswers(willing, 0)).toBeUndefined();
  });
});
