/** The guard accepts hosts that no name server can redirect, and pages of this machine. */
import { describe, expect, it } from 'vitest';
import { createGuard, type GuardOptions } from './guard.ts';

interface Asked {
  readonly host?: string;
  readonly origin?: string;
  /** The protocol of the request. Default: plain HTTP. */
  readonly url?: string;
}

/** The guard's verdict on a request with these headers: `pass`, or the header for which it refuses. */
function verdict(
  { host, origin, url = 'http://127.0.0.1/mcp' }: Asked,
  options: GuardOptions = {},
): 'pass' | 'host' | 'origin' {
  const headers = new Headers();
  if (host !== undefined) headers.set('host', host);
  if (origin !== undefined) headers.set('origin', origin);
  // A web `Request` may not set `Host`, so this is a plain object, as the server makes it.
  const request = { headers, url } as Request;
  const refused = createGuard(options)(request);
  if (refused === undefined) return 'pass';
  return refused.includes('Origin') ? 'origin' : 'host';
}

const HERE = '127.0.0.1:8931';

describe('a Host (CVE-2025-66414, CVE-2025-66416, CVE-2026-34742)', () => {
  it.each([
    'localhost',
    'localhost:8931',
    'LOCALHOST:8931',
    'LocalHost',
    '127.0.0.1',
    HERE,
    '127.0.0.2:80',
    '[::1]',
    '[::1]:8931',
    '[0:0:0:0:0:0:0:1]:8931',
    '[::ffff:127.0.0.1]:8931',
    '0.0.0.0:8931',
    '192.168.1.17:8931',
    '[fe80::1]:8931',
    // Other spellings of an address: no name server is asked about them.
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '127.1',
    '0177.0.0.1',
  ])('that is an address or localhost passes: %s', (host) => {
    expect(verdict({ host })).toBe('pass');
  });

  it.each([
    'evil.example',
    'evil.example:8931',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.0.0.1.nip.io:8931',
    'localtest.me',
    'evil-localhost',
    'localhost.',
    'localhost.localdomain',
    'a.localhost',
    'evil.example.',
    'xn--lcalhost-l1a',
    'l\u00f6calhost',
    '127.0.0.1.',
    '1.2.3.4.5',
    '[::1].evil.example',
    'fe80::1',
    '::1',
    'metadata.google.internal',
    '169.254.169.254.evil.example',
    'example.com:8931',
    '0x7f.1.evil.example',
  ])('that is a name is refused, since names can be made to mean this machine: %s', (host) => {
    // With a dot at its end, an address is still an address and no name.
    expect(verdict({ host })).toBe(host === '127.0.0.1.' ? 'pass' : 'host');
  });

  it.each([
    '',
    ' ',
    ':',
    ':8931',
    '127.0.0.1:',
    '127.0.0.1:x',
    '127.0.0.1:99999',
    '127.0.0.1:-1',
    '127.0.0.1:8931:8931',
    'evil.example@127.0.0.1',
    'user:password@localhost',
    '127.0.0.1@evil.example',
    '127.0.0.1/evil.example',
    '127.0.0.1?evil.example',
    '127.0.0.1#evil.example',
    '127.0.0.1\\evil.example',
    '127.0.0.1 evil.example',
    'evil.example, 127.0.0.1',
    '127.0.0.1,evil.example',
    '127.0.0.1%00.evil.example',
    '[::1',
    '::1]',
    '[]',
    '[::1%25eth0]',
    '256.256.256.256',
    '127.0.0.1;x',
    '%6cocalhost.evil.example',
  ])('that is malformed is refused: %j', (host) => {
    // Without a port after the colon, the default port of the scheme counts (RFC 9110).
    expect(verdict({ host })).toBe(host === '127.0.0.1:' ? 'pass' : 'host');
  });

  it('that is missing is refused', () => {
    expect(verdict({})).toBe('host');
  });

  it.each([
    ['docs.example', 'docs.example', 'pass'],
    ['docs.example', 'docs.example:443', 'pass'],
    ['Docs.Example', 'docs.example', 'pass'],
    ['docs.example', 'DOCS.EXAMPLE', 'pass'],
    ['docs.example', 'a.docs.example', 'host'],
    ['docs.example', 'docs.example.evil', 'host'],
    ['docs.example', 'evildocs.example', 'host'],
    ['docs.example', 'evil@docs.example', 'host'],
    ['*', 'evil.example', 'host'],
    ['*.example', 'docs.example', 'host'],
  ])('that is allowed passes, and no similar one: %s for %s', (allowed, host, expected) => {
    expect(verdict({ host }, { allowedHosts: [allowed] })).toBe(expected);
  });
});

describe('an Origin', () => {
  it.each([
    'http://localhost',
    'http://localhost:3000',
    'https://localhost:8443',
    'http://127.0.0.1:5173',
    'http://127.0.0.1:8931',
    'http://[::1]:3000',
    'HTTP://LOCALHOST:3000',
    'http://localhost:80/',
  ])('of a page of this machine passes: %s', (origin) => {
    expect(verdict({ host: HERE, origin })).toBe('pass');
  });

  it.each([
    'http://evil.example',
    'https://evil.example:8931',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://localhost.',
    'http://a.localhost',
    'http://192.168.1.17:8931',
    'http://10.0.0.1',
    'http://0.0.0.0:8931',
    'http://[::]:8931',
    'http://128.0.0.1',
    'http://evil.example@localhost',
    'http://localhost@evil.example',
    'http://localhost:3000@evil.example',
    'http://evil.example#@localhost',
    'http://evil.example?@localhost',
    'http://evil.example\\@localhost',
    'http://evil.example/http://localhost',
    'http://localhost/path',
    'http://localhost?query',
    'http://localhost#fragment',
    'http://localhost, http://evil.example',
    'http://localhost http://evil.example',
    'http://localhost:99999',
    'localhost',
    'localhost:8931',
    '127.0.0.1',
    '//localhost',
    'http:localhost@evil.example',
    'null',
    'NULL',
    '',
    ' ',
    'undefined',
    'file://',
    'file://localhost',
    'file:///home/someone/page.html',
    'data:text/html,x',
    'about:blank',
    'blob:http://localhost/1',
    'javascript:alert(1)',
    'ftp://localhost',
    'ws://localhost',
    'app://localhost',
    'evil://127.0.0.1',
    'chrome-extension://abcdefghijklmnop',
    'chrome-extension://localhost',
    'moz-extension://127.0.0.1',
    'vscode-webview://localhost',
    'capacitor://localhost',
  ])('of anything else is refused: %j', (origin) => {
    expect(verdict({ host: HERE, origin })).toBe('origin');
  });

  it('of the requested host and port passes, since such a page is from the same server', () => {
    expect(verdict({ host: '192.168.1.17:8931', origin: 'http://192.168.1.17:8931' })).toBe('pass');
    expect(verdict({ host: '192.168.1.17:8931', origin: 'http://192.168.1.17' })).toBe('origin');
    expect(verdict({ host: '192.168.1.17:8931', origin: 'http://192.168.1.17:80' })).toBe('origin');
    expect(verdict({ host: '192.168.1.17:8931', origin: 'http://192.168.1.18:8931' })).toBe('origin');
    expect(verdict({ host: '192.168.1.17', origin: 'http://192.168.1.17:80' })).toBe('pass');
  });

  it('of the same address without TLS is refused over TLS, which is another origin', () => {
    const asked = { host: '192.168.1.17', url: 'https://192.168.1.17/mcp' };
    expect(verdict({ ...asked, origin: 'https://192.168.1.17' })).toBe('pass');
    expect(verdict({ ...asked, origin: 'http://192.168.1.17' })).toBe('origin');
    expect(verdict({ ...asked, url: 'http://192.168.1.17/mcp', origin: 'https://192.168.1.17' })).toBe('pass');
  });

  it('of a page whose name points to this machine is refused because of its Host', () => {
    expect(verdict({ host: 'evil.example:8931', origin: 'http://evil.example:8931' })).toBe('host');
    expect(verdict({ host: 'evil.example:8931', origin: 'http://localhost:8931' })).toBe('host');
  });

  it('that is missing passes, since only pages send one', () => {
    expect(verdict({ host: HERE })).toBe('pass');
  });

  it.each([
    ['https://app.example', 'https://app.example', 'pass'],
    ['https://App.Example/', 'https://app.example', 'pass'],
    ['https://app.example:443', 'https://app.example', 'pass'],
    ['https://app.example', 'https://app.example:443', 'pass'],
    ['https://app.example', 'http://app.example', 'origin'],
    ['https://app.example', 'https://app.example:8443', 'origin'],
    ['https://app.example', 'https://a.app.example', 'origin'],
    ['https://app.example', 'https://app.example.evil', 'origin'],
    ['https://app.example', 'https://evil@app.example', 'origin'],
    ['vscode-webview://abc', 'vscode-webview://abc', 'pass'],
    ['vscode-webview://abc', 'vscode-webview://abcd', 'origin'],
    ['null', 'null', 'pass'],
    ['*', 'https://evil.example', 'origin'],
  ])('that is allowed passes, and no similar one: %s for %s', (allowed, origin, expected) => {
    expect(verdict({ host: HERE, origin }, { allowedOrigins: [allowed] })).toBe(expected);
  });
});

describe('a guard that has accepted a request', () => {
  it('checks the next one, too', () => {
    const guard = createGuard();
    const ask = (host: string, origin?: string) =>
      guard({ url: 'http://x/mcp', headers: new Headers({ host, ...(origin !== undefined && { origin }) }) });
    for (let count = 0; count < 2; count++) {
      expect(ask(HERE)).toBeUndefined();
      expect(ask(HERE)).toBeUndefined();
      expect(ask(HERE, 'https://evil.example')).toContain('Origin');
      expect(ask('evil.example')).toContain('Host');
      expect(ask('evil.example')).toContain('Host');
    }
  });
});
