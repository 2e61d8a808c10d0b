import { expect, it } from 'vitest';
import { ORIGIN_HEADER, ORIGIN_META_KEY, takeOrigin, withOrigin } from './message-origin.ts';

const log = (params: object): object => ({ jsonrpc: '2.0', method: 'notifications/message', params });

it('removes the origin from the headers of sent messages', () => {
  const { headers, origin } = takeOrigin({ [ORIGIN_HEADER]: 'call-1', accept: 'text/event-stream' });
  expect(origin).toBe('call-1');
  expect([...headers.keys()]).toEqual(['accept']);
  expect(takeOrigin({}).origin).toBeUndefined();
});

it('adds the origin to log messages, and to nothing else', () => {
  const message = log({ level: 'info', data: 'ü', _meta: { kept: 1 } });
  expect(withOrigin(message, 'mine')).toEqual(
    log({ level: 'info', data: 'ü', _meta: { kept: 1, [ORIGIN_META_KEY]: 'mine' } }),
  );
  const other = { jsonrpc: '2.0', id: 1, result: { text: '"notifications/message"' } };
  for (const each of [other, [], null, undefined, 'text']) {
    expect(withOrigin(each, 'mine')).toBeUndefined();
  }
});

it('an origin that a server invented is replaced', () => {
  const forged = log({ level: 'info', data: 1, _meta: { [ORIGIN_META_KEY]: 'another' } });
  expect(JSON.stringify(withOrigin(forged, 'mine'))).not.toContain('another');
});
