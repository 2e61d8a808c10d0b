/** Hosts are classified however they are written. */
import { describe, expect, it } from 'vitest';
import { type HostKind, isLoopback, isWithin, kindOfHost } from './hosts.ts';

const HOSTS: Readonly<Record<HostKind, readonly string[]>> = {
  loopback:
    `localhost LOCALHOST localhost. localhost.. localhost。 %6cocalhost ｌｏｃａｌｈｏｓｔ x.localhost x.localhost. 127.0.0.1
    127.0.0.1. 127.1 127。0。0。1 0x7f.1 0177.0.0.1 2130706433 0x7f000001 017700000001 ①②⑦.0.0.1 [::1] [0:0:0:0:0:0:0:1]
    [::ffff:127.0.0.1] [::ffff:7f00:1] [64:ff9b::7f00:1] [64:ff9b::127.0.0.1]`.split(/\s+/),
  private:
    `10.0.0.1 0xa.1 172.16.0.1 192.168.1.1 3232235777 100.64.0.1 100.127.255.255 [fc00::1] [fd00:ec2::254] [::ffff:10.0.0.1]
    [64:ff9b::a00:1]`.split(/\s+/),
  nobody: '0.0.0.0 0 0x0 00 0.0.0.0. [::] [::ffff:0:0] 255.255.255.255 224.0.0.1 [ff02::1]'.split(' '),
  special:
    `169.254.169.254 0xa9fea9fe 2852039166 [::ffff:169.254.169.254] [64:ff9b::a9fe:a9fe] [fe80::1] [fec0::1] 192.0.0.192
    192.0.2.1 198.18.0.1 240.0.0.1 [2002:7f00:1::] [2002:a00:1::] [2001:0:53aa:64c::1] [64:ff9b:1::a00:1] [::127.0.0.1]
    [::ffff:0:127.0.0.1] [100::1] [4000::1]`.split(/\s+/),
  'local-name':
    `printer.local PRINTER.LOCAL. metadata.google.internal metadata.google.internal. metadata instance-data wiki router.lan
    nas.home box.home.arpa host.docker.internal kubernetes.default.svc api.svc.cluster.local x.corp x.intranet wiki。`.split(
      /\s+/,
    ),
  public: '1.1.1.1 93.184.216.34 0x01010101 172.32.0.1 [2606:4700::1111] [::ffff:1.1.1.1] [64:ff9b::101:101]'.split(
    ' ',
  ),
  name: 'example.com example.com. localhost.evil.example 127.evil.example local.example internal.example xn--bcher-kva.example'.split(
    ' ',
  ),
};

describe('a host in a URL', () => {
  const all = Object.entries(HOSTS).flatMap(([kind, hosts]) => hosts.map((host) => [host, kind] as const));
  it.each(all)('%s is %s', (host, kind) => {
    expect(kindOfHost(new URL(`https://${host}/`).hostname)).toBe(kind);
  });

  it('is within domains by whole labels', () => {
    for (const host of ['a.example', 'x.a.example', 'x.A.example.']) expect(isWithin(host, ['A.example'])).toBe(true);
    for (const host of ['ba.example', 'a.example.evil', 'example'])
      expect(isWithin(host, ['a.example', '', '.'])).toBe(false);
  });
});

describe('a listening address', () => {
  it.each(['localhost', '127.0.0.1', '127.8.9.10', '::1', '[::1]', '::ffff:127.0.0.1', '[::ffff:7f00:1]'])(
    'means this machine only: %s',
    (host) => {
      expect(isLoopback(host)).toBe(true);
    },
  );

  it.each([
    '0.0.0.0',
    '::',
    '[::]',
    '',
    '192.168.1.17',
    '128.0.0.1',
    'localhost.evil',
    '127.evil.example',
    '1127.0.0.1',
    '::2',
    '::ffff:192.168.1.17',
    // Some systems ask the DNS for it.
    'x.localhost',
    'localhost.',
  ])('may be reachable from elsewhere: %s', (host) => {
    expect(isLoopback(host)).toBe(false);
  });
});
