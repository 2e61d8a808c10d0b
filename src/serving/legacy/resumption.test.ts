import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { createEventStore } from './resumption.ts';

const message = (method: string): JSONRPCMessage => ({ jsonrpc: '2.0', method });
const PRIMING = {} as JSONRPCMessage;

async function replayed(store: ReturnType<typeof createEventStore>, id: string) {
  const sent: unknown[] = [];
  const stream = await store.replayEventsAfter(id, {
    send: async (eventId, each) => void sent.push([eventId, each]),
  });
  return { stream, sent };
}

describe('the events of a session', () => {
  it('are told again after the one that was seen last, those of its stream only, and without what only gives an id', async () => {
    const store = createEventStore();
    const first = await store.storeEvent('a', PRIMING);
    const second = await store.storeEvent('a', message('one'));
    await store.storeEvent('b', message('other'));
    await store.storeEvent('a', PRIMING);
    const last = await store.storeEvent('a', message('two'));
    expect(await replayed(store, first)).toEqual({
      stream: 'a',
      sent: [
        [second, message('one')],
        [last, message('two')],
      ],
    });
    expect(await replayed(store, last)).toEqual({ stream: 'a', sent: [] });
    expect(await store.getStreamIdForEventId?.(last)).toBe('a');
  });

  it.each([
    ['in number', { maxEvents: 3 }],
    ['in bytes', { maxBytes: 3 * JSON.stringify(message('m0')).length }],
  ])('are bounded %s: the oldest are forgotten', async (_what, options) => {
    const store = createEventStore(options);
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.push(await store.storeEvent('a', message(`m${at}`)));
    const known = await Promise.all(ids.map((id) => store.getStreamIdForEventId?.(id)));
    expect(known).toEqual([undefined, undefined, 'a', 'a', 'a']);
    await expect(replayed(store, ids[0] ?? '')).rejects.toThrow('not kept');
  });

  it('larger than all that is kept leave nothing behind, and no debt', async () => {
    const store = createEventStore({ maxBytes: 100 });
    const large = await store.storeEvent('a', message('x'.repeat(200)));
    const small = await store.storeEvent('a', message('s'));
    expect(await store.getStreamIdForEventId?.(large)).toBeUndefined();
    expect(await store.getStreamIdForEventId?.(small)).toBe('a');
  });
});
