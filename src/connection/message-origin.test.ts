import { expect, it } from 'vitest';
import { ORIGIN_HEADER, ORIGIN_META_KEY, takeOrigin, withOrigin } from './message-origin.ts';

const log = (params: object): object => ({ jsonrpc: '2.0', method: 'notifications/message', params });

it('takes the origin off what is sent', () => {
  const { headers, origin } = takeOrigin({ [ORIGIN_HEADER]: 'call-1', accept: 'text/event-stream' });
  expect(origin).toBe('call-1');
  expect([...headers.keys()]).toEqual(['accept']);
  expect(takeOrigin({}).origin).toBeUndefined();
});

it('writes the origin into log messages, and into nothing else', () => {
  const message = log({ level: 'info', data: 'ü', _meta: { kept: 1 } });
  expect(withOrigin(message, 'mine')).toEqual(
    log({ level: 'info', data: 'ü', _meta: { kept: 1, [ORIGIN_META_KEY]: 'mine' } }),
  );
  const other = { jsonrpc: '2.0', id: 1, result: { text: '"notifications/message"' } };
  for (const each of [other, [], null, undefined, 'text']) {
    expect(withOrigin(each, 'mine')).toBeUndefined();
  }
});

it('an origin that a server made up is replaced', () => {
  const forged = log({ level: 'info', data: 1, _meta: { [ORIGIN_META_KEY]: 'another' } });
  expect(JSON.stringify(withOrigin(forged, 'mine'))).not.toContain('another');
});
