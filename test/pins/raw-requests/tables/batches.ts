/** Several messages at once, which revision 2025-03-26 allowed. */
import { envelope, notification, request } from '../eras.ts';
import { cases, type MessageCase } from '../messages.ts';

const modern = (method: string, params: object = {}, id: unknown = 1): object =>
  request(method, { ...params, _meta: envelope() }, { id });
const ping = (id: unknown): object => request('ping', undefined, { id });

export const BATCHES: readonly MessageCase[] = cases({
  'one request': [ping(1)],
  'two requests': [ping(1), ping(2)],
  'requests of several kinds': [
    ping('a'),
    request('resources/list', {}, { id: 'b' }),
    request('nothing', {}, { id: 'c' }),
  ],
  'a request and a notification': [ping(1), notification('notifications/initialized')],
  'notifications alone': [notification('notifications/initialized'), notification('notifications/unknown')],
  'responses alone': [{ jsonrpc: '2.0', id: 5, result: {} }],
  'a request and what is none': [ping(1), 1, null, {}],
  'one that is no JSON-RPC': [{ id: 1, method: 'ping' }],
  'an id twice': [ping(1), ping(1)],
  'an id as text and as number': [ping(1), ping('1')],
  'initialize among others': [
    request('initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'a', version: '1' } }),
    ping(2),
  ],
  'one request of 2026': [modern('resources/list')],
  'requests of 2026': [modern('resources/list'), modern('resources/templates/list', {}, 2)],
  'requests of both eras': [modern('resources/list'), ping(2)],
  'a hundred': Array.from({ length: 100 }, () => notification('notifications/initialized')),
  'more than a hundred': Array.from({ length: 101 }, () => notification('notifications/initialized')),
});
