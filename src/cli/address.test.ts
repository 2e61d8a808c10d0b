import { describe, expect, it } from 'vitest';
import { parseAddress } from './address.ts';
import { UsageError } from './errors.ts';

describe('parseAddress', () => {
  it.each<[string | true, string, number]>([
    [true, '127.0.0.1', 8931],
    ['0', '127.0.0.1', 0],
    ['8080', '127.0.0.1', 8080],
    ['65535', '127.0.0.1', 65_535],
    ['localhost:80', 'localhost', 80],
    ['0.0.0.0:8931', '0.0.0.0', 8931],
    ['[::1]:8931', '::1', 8931],
    ['host.example:1', 'host.example', 1],
  ])('takes %s', (text, host, port) => {
    expect(parseAddress(text)).toEqual({ host, port });
  });

  it.each(['', 'abc', '65536', '-1', '80 ', ':80', '::1:80', 'host:', 'a:b', '1.5', './docs', 'http://localhost:80'])(
    'refuses %j with an example',
    (text) => {
      expect(() => parseAddress(text)).toThrow(UsageError);
      expect(() => parseAddress(text)).toThrow('--http 8931');
    },
  );
});
