/** Addresses to which a URL, a name, or a redirect may lead: every address that is not public is refused, in every spelling. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createAddressPolicy } from '../../src/providers/http/addresses.ts';
import { httpProvider, type Resolve } from '../../src/providers/http/index.ts';
import { ctx, get } from '../providers/http/looking.ts';
import { content, startSite } from '../providers/http/site.ts';

const origin = new URL('https://site.example/');
const policy = createAddressPolicy({ configured: [origin] });

const NOT_PUBLIC: readonly (readonly [string, string])[] = [
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'this network'],
  ['10.0.0.1', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['100.64.0.1', 'behind a carrier'],
  ['100.127.255.255', 'behind a carrier'],
  ['169.254.0.1', 'link-local'],
  ['169.254.169.254', 'metadata of clouds'],
  ['192.0.0.192', 'metadata of a cloud'],
  ['192.0.2.1', 'documentation'],
  ['198.18.0.1', 'benchmarks'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['::127.0.0.1', 'an IPv4 address in an old form'],
  ['::ffff:127.0.0.1', 'a mapped IPv4 address'],
  ['::ffff:7f00:1', 'a mapped IPv4 address in hex'],
  ['::ffff:10.0.0.1', 'a mapped IPv4 address'],
  ['::ffff:169.254.169.254', 'a mapped IPv4 address'],
  ['::ffff:0:127.0.0.1', 'a translated IPv4 address'],
  ['64:ff9b::7f00:1', 'behind NAT64'],
  ['64:ff9b::169.254.169.254', 'behind NAT64'],
  ['64:ff9b:1::a00:1', 'behind a local NAT64'],
  ['2002:7f00:1::', '6to4'],
  ['2001:0:53aa:64c:0:0:80ff:fffe', 'Teredo'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local with a zone'],
  ['fec0::1', 'site-local'],
  ['fc00::1', 'unique local'],
  ['fd00:ec2::254', 'metadata of a cloud'],
  ['ff02::1', 'multicast'],
  ['100::1', 'discarded'],
  ['2001:db8::1', 'documentation'],
  ['3fff::1', 'documentation'],
  ['5f00::1', 'segment routing'],
  ['4000::1', 'not assigned'],
  ['', 'nothing'],
  ['site.example', 'no address'],
];

describe('an address', () => {
  it.each(NOT_PUBLIC)('%s (%s) is not connected to', (address) => {
    expect(policy.allows(address, origin)).toBe(false);
  });

  it.each(['1.1.1.1', '93.184.216.34', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1', '64:ff9b::101:101'])(
    '%s is public',
    (address) => {
      expect(policy.allows(address, origin)).toBe(true);
    },
  );
});

describe('allowPrivate', () => {
  const allowed = (allowPrivate: boolean | string[], address: string, host = 'site.example'): boolean =>
    createAddressPolicy({ allowPrivate, configured: [] }).allows(address, new URL(`https://${host}/`));

  it.each<[string, boolean | string[], string, boolean, string?]>([
    ['true: a private address', true, '10.0.0.1', true],
    ['true: loopback', true, '::1', true],
    ['true: link-local has to be named', true, '169.254.169.254', false],
    ['true: multicast is refused', true, '224.0.0.1', false],
    ['a range', ['10.0.0.0/8'], '10.1.2.3', true],
    ['a range: what is beside it', ['10.0.0.0/8'], '11.0.0.1', true],
    ['a range: another private address', ['10.0.0.0/8'], '192.168.0.1', false],
    ['a range: the same address, mapped', ['10.0.0.0/8'], '::ffff:10.1.2.3', true],
    ['an address', ['fd00::1'], 'fd00::1', true],
    ['an address: its neighbour', ['fd00::1'], 'fd00::2', false],
    ['an address of a cloud', ['169.254.169.254'], '169.254.169.254', true],
    ['a host', ['intranet.example'], '10.0.0.1', true, 'intranet.example'],
    ['a host: another one', ['intranet.example'], '10.0.0.1', false],
    ['a host: where clouds keep credentials', ['intranet.example'], '169.254.169.254', false, 'intranet.example'],
    ['a range of all addresses: the unspecified one is refused', ['0.0.0.0/0'], '0.0.0.0', false],
  ])('%s', (_what, allowPrivate, address, expected, host) => {
    expect(allowed(allowPrivate, address, host)).toBe(expected);
  });

  it.each(['10.0.0.0/64', 'a/b', 'http://x', 'a b', 'x:80'])('%s is refused where it is configured', (entry) => {
    expect(() => createAddressPolicy({ allowPrivate: [entry], configured: [] })).toThrow(/allowPrivate/);
  });
});

/** Spellings of this machine in URLs, which the parser turns into addresses. */
const DISGUISED: readonly string[] = [
  'http://2130706433:9/',
  'http://0x7f000001:9/',
  'http://017700000001:9/',
  'http://127.1:9/',
  'http://0x7f.1:9/',
  'http://0177.0.0.1:9/',
  'http://127.0.0.1.:9/',
  `http://${encodeURIComponent('①②⑦.⓪.⓪.①')}:9/`,
  'http://[::ffff:127.0.0.1]:9/',
  'http://[0:0:0:0:0:0:0:1]:9/',
  'http://0:9/',
];

describe('a redirect', () => {
  it.each(DISGUISED)('to %s is refused without a connection', async (location) => {
    await using site = await startSite((_request, response) => response.writeHead(302, { location }).end());
    const provider = await httpProvider({ http: `${site.origin}/a` });
    try {
      await expect(get(provider, `${site.origin}/a`)).rejects.toMatchObject({ code: 'denied' });
    } finally {
      await provider.close?.();
    }
  });
});

/** Listens at every IPv4 address of this machine, and notes at which ones it was reached, even if nothing was requested. */
async function everywhere(): Promise<AsyncDisposable & { readonly port: number; readonly reached: readonly string[] }> {
  const reached: string[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/moved') {
      const location = `http://other.example:${request.socket.localPort}/a`;
      response.writeHead(302, { location, connection: 'close' }).end();
    } else response.end(request.socket.localAddress);
  });
  server.on('connection', ({ localAddress }) => reached.push(localAddress ?? ''));
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    reached,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('a name', () => {
  const named = async (resolve: Resolve, allowPrivate?: string[]) => {
    await using site = await startSite(content('inside'));
    const url = `http://site.example:${site.port}/a`;
    const provider = await httpProvider({ http: url, head: false, resolve, ...(allowPrivate && { allowPrivate }) });
    try {
      return { got: await get(provider, url).catch((error: unknown) => error), asked: site.asked.length };
    } finally {
      await provider.close?.();
    }
  };
  const to =
    (...addresses: string[]): Resolve =>
    async () =>
      addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));

  it.each([['127.0.0.1'], ['::ffff:127.0.0.1'], ['169.254.169.254'], ['10.0.0.1', '192.168.0.1'], ['::1']])(
    'that leads to %s is refused before anything is sent',
    async (...addresses) => {
      const { got, asked } = await named(to(...addresses));
      expect(got).toMatchObject({ code: 'denied' });
      expect(String((got as Error).message)).not.toMatch(/\d+\.\d+|::/);
      expect(asked).toBe(0);
    },
  );

  it('that is allowed is connected to', async () => {
    expect(await named(to('127.0.0.1'), ['site.example'])).toMatchObject({ got: { text: 'inside' }, asked: 1 });
  });

  it('that leads to a refused address is not resolved a second time', async () => {
    let times = 0;
    const { got, asked } = await named(async () => {
      times++;
      return [{ address: times === 1 ? '192.0.2.1' : '127.0.0.1', family: 4 }];
    });
    expect(got).toMatchObject({ code: 'denied' });
    expect(asked).toBe(0);
    expect(times).toBe(1);
  });

  // 127.0.0.1 is allowed, and stands for an address of the attacker; 127.0.0.2 for one that must not be reached.
  it.each<[string, readonly (readonly string[])[]]>([
    ['the second lookup', [['127.0.0.1'], ['127.0.0.2']]],
    ['every second lookup', [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1'], ['127.0.0.2']]],
    ['the same lookup, behind it', [['127.0.0.1', '127.0.0.2']]],
    ['the same lookup, before it', [['127.0.0.2', '127.0.0.1']]],
    ['the second lookup, as a mapped address', [['127.0.0.1'], ['::ffff:127.0.0.2']]],
  ])('that leads elsewhere in %s is connected to only where it was checked', async (_when, lookups) => {
    await using server = await everywhere();
    const urls = ['a', 'moved'].map((path) => `http://site.example:${server.port}/${path}`);
    for (const url of urls) {
      let times = 0;
      const resolve: Resolve = async () => {
        // The last answer stays.
        const found = lookups[Math.min(times++, lookups.length - 1)] ?? [];
        return found.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
      };
      const provider = await httpProvider({ http: urls, head: false, allowPrivate: ['127.0.0.1'], resolve });
      try {
        const got = await get(provider, url).catch((error: unknown) => error);
        // The redirect leads to another name, which is resolved in the next lookup.
        const last = url === urls[0] ? lookups[0] : (lookups[1] ?? lookups[0]);
        expect(got).toMatchObject(last?.includes('127.0.0.1') ? { text: '127.0.0.1' } : { code: 'denied' });
      } finally {
        await provider.close?.();
      }
    }
    expect(new Set(server.reached)).toEqual(new Set(['127.0.0.1']));
  });

  it('that is allowed at first, and leads elsewhere later, is refused for the next connection', async () => {
    await using site = await startSite((_request, response) => {
      response.writeHead(200, { connection: 'close' }).end('inside');
    });
    let address = '127.0.0.1';
    const url = `http://site.example:${site.port}/a`;
    const provider = await httpProvider({
      http: url,
      head: false,
      allowPrivate: ['127.0.0.1'],
      resolve: async () => [{ address, family: 4 }],
    });
    try {
      expect((await get(provider, url)).text).toBe('inside');
      address = '127.0.0.2';
      await expect(get(provider, url)).rejects.toMatchObject({ code: 'denied' });
      expect(site.asked).toHaveLength(1);
    } finally {
      await provider.close?.();
    }
  });
});

describe('an address in the configuration of a mount', () => {
  it('is allowed, with that port only', async () => {
    await using site = await startSite(content('own'));
    await using other = await startSite(content('other'));
    site.on('/moved', (_request, response) => response.writeHead(302, { location: `${other.origin}/` }).end());
    const http = [`${site.origin}/a`, `${site.origin}/moved`];
    const provider = await httpProvider({ http });
    try {
      expect((await get(provider, http[0] ?? '')).text).toBe('own');
      await expect(get(provider, http[1] ?? '')).rejects.toMatchObject({ code: 'denied' });
      expect(other.asked).toHaveLength(0);
    } finally {
      await provider.close?.();
    }
  });

  it('is not allowed if clouds keep credentials there', async () => {
    const http = 'http://169.254.169.254/latest/meta-data/';
    const provider = await httpProvider({ http });
    try {
      await expect(get(provider, http)).rejects.toMatchObject({ code: 'denied' });
      expect(await provider.list(undefined, { limit: 1 }, ctx)).toMatchObject({ resources: [{ uri: http }] });
    } finally {
      await provider.close?.();
    }
  });
});

it('a proxy in the environment is not used', async () => {
  let proxied = 0;
  const proxy = createServer((_request, response) => {
    proxied++;
    response.end('from the proxy');
  });
  proxy.on('connect', (_request, socket) => {
    proxied++;
    socket.destroy();
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'ALL_PROXY'];
  const before = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  for (const name of names) process.env[name] = address;
  await using site = await startSite(content('direct'));
  const provider = await httpProvider({ http: `${site.origin}/a` });
  try {
    expect((await get(provider, `${site.origin}/a`)).text).toBe('direct');
    expect(proxied).toBe(0);
  } finally {
    for (const name of names) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
    await provider.close?.();
    proxy.close();
  }
});
