import { afterEach, expect, it } from 'vitest';
import { Expiry } from '../auth/expiry.ts';
import { createEventStreams } from '../http/events.ts';
import type { Peer } from '../peer/peer.ts';
import { Session } from './session.ts';

const streams = createEventStreams();
afterEach(() => streams.close());

it('a session that has ended opens no stream, and watches nothing', async () => {
  let listens = 0;
  const peer = { heard: {}, rests() {}, listens: () => void listens++, close: async () => {} } as unknown as Peer;
  const session = new Session({
    id: 'a',
    peer: () => peer,
    streams,
    expiry: new Expiry(undefined),
    admission: {} as never,
    resume: undefined,
  });
  const http = {
    method: 'GET',
    url: 'http://localhost/mcp',
    headers: new Headers({ accept: 'text/event-stream' }),
    signal: new AbortController().signal,
    abort() {},
  };
  await session.close(false);
  const { status } = session.open(http, () => {});
  expect({ status, listens, listening: session.listening }).toEqual({ status: 404, listens: 0, listening: false });
});
