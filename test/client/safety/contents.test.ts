/** Checks of contents, names and icons from a hostile server, in both eras. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CheckedContents,
  checkContents,
  fetchIcon,
  forTerminal,
  renderingOf,
  type TrustOptions,
  trustedIcons,
  trustIcon,
  trustWebsite,
  type UncheckedContents,
} from '../../../src/client/safety/index.ts';
import type { Icon } from '../../../src/protocol/resources.ts';
import { type Connected, ERAS } from '../../e2e/harness.ts';
import { connectHostile } from '../guards/hostile.ts';

async function contentsOf(connected: Connected, name: string): Promise<UncheckedContents> {
  const { contents } = await connected.request<{ contents: UncheckedContents[] }>('resources/read', {
    uri: `evil:///${name}`,
  });
  return contents[0] ?? {};
}

const read = async (connected: Connected, name: string): Promise<CheckedContents> =>
  await checkContents(await contentsOf(connected, name));

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');

describe.each(ERAS)('contents in the %s era', (era) => {
  let connected: Connected;
  beforeAll(async () => {
    connected = await connectHostile(era);
  });
  afterAll(() => connected.close());

  it('are measured before base64 is decoded [SEC-RES-7]', async () => {
    const huge = await contentsOf(connected, 'huge.bin');
    const size = 3 * 1024 * 1024;
    const limit = { code: 'too-large', data: { size, maxBytes: size - 1 } };
    await expect(checkContents(huge, { maxBytes: size - 1 })).rejects.toMatchObject(limit);
    // This blob is not base64: the size is refused, so the blob was not decoded.
    const broken = { ...huge, blob: `!${huge.blob?.slice(1)}` };
    await expect(checkContents(broken, { maxBytes: size - 1 })).rejects.toMatchObject(limit);
    expect((await checkContents(huge, { maxBytes: size })).size).toBe(size);
    const noBase64 = { code: 'invalid-answer' };
    await expect(checkContents({ ...huge, blob: 'not base64 at all!' })).rejects.toMatchObject(noBase64);
    await expect(checkContents({ uri: 'evil:///nothing' })).rejects.toMatchObject(noBase64);
  });

  it.each([
    ['page.png', 'text/plain', ['type-contradicted'], 'text', 'type-contradicted'],
    ['program.txt', 'application/x-elf', ['type-contradicted'], 'download', 'type-contradicted'],
    ['small.png', 'image/png', ['size-differs'], 'image', 'raster-image'],
    ['picture.png', 'image/png', [], 'image', 'raster-image'],
    ['bomb.png', 'image/png', [], 'download', 'too-large'],
    ['page.txt', 'text/plain', [], 'text', 'plain-text'],
    ['page.html', 'text/html', [], 'sandbox', 'active-document'],
    ['drawing.svg', 'image/svg+xml', [], 'image', 'vector-image'],
    ['latin.txt', 'text/plain', ['not-utf8'], 'download', 'type-unknown'],
  ])(
    'of %s are %s, and are shown by their real type [SEC-RES-6, SEC-RES-7]',
    async (name, mimeType, problems, as, reason) => {
      const checked = await read(connected, name);
      expect(checked).toMatchObject({ mimeType, problems });
      expect(renderingOf(checked)).toMatchObject({ as, reason });
    },
  );

  it('have icons that are shown from trusted origins only [973-4]', async () => {
    const { resources } = await connected.request<{ resources: { icons: Icon[] }[] }>('resources/list');
    const icons = resources[0]?.icons ?? [];
    const reasons = await Promise.all(
      icons.map(async (icon) => {
        const trust = await trustIcon(icon, { trustedDomains: ['icons.example'] });
        return trust.trusted ? trust.src.slice(0, 30) : trust.reason;
      }),
    );
    expect(reasons).toEqual([
      'scheme',
      'scheme',
      'origin',
      'https://icons.example/good.png',
      'data:image/svg+xml;base64,PHN2',
      'type',
      'type',
      'data:image/png;base64,iVBORw0K',
      'too-large',
    ]);
    const stdio = await trustedIcons(icons);
    expect(stdio.map(({ mimeType, remote }) => [mimeType, remote])).toEqual([
      ['image/svg+xml', false],
      ['image/png', false],
    ]);
  });
});

describe('trust', () => {
  const at: TrustOptions = { server: 'https://mcp.example/path', trustedDomains: ['trusted.example'] };
  it.each([
    ['https://mcp.example/i.png', true],
    ['https://mcp.example:444/i.png', 'origin'],
    ['http://mcp.example/i.png', 'scheme'],
    ['https://sub.mcp.example/i.png', 'origin'],
    ['https://trusted.example/i.png', true],
    ['https://cdn.trusted.example/i.png', true],
    ['https://cdn.trusted.example:8443/', 'origin'],
    ['http://trusted.example/i.png', 'scheme'],
    ['https://nottrusted.example/i.png', 'origin'],
    ['https://trusted.example.evil.example/', 'origin'],
    ['https://mcp.example@evil.example/', 'credentials'],
    ['https://user@mcp.example/', 'credentials'],
    ['javascript:alert(1)', 'scheme'],
    ['ftp://mcp.example/', 'scheme'],
    ['ws://mcp.example/', 'scheme'],
    ['vscode://mcp.example/', 'scheme'],
    ['data:text/html,x', 'scheme'],
    ['/relative', 'malformed'],
  ])('of the website %s is %s [973-4]', (url, expected) => {
    const trust = trustWebsite(url, at);
    expect(trust.trusted ? true : trust.reason).toBe(expected);
  });

  it('of an origin over plain HTTP is possible only for the server itself, for development', () => {
    expect(trustWebsite('http://localhost:3000/', { server: 'http://localhost:3000/mcp' }).trusted).toBe(true);
    expect(trustWebsite('http://localhost:3001/', { server: 'http://localhost:3000/mcp' }).trusted).toBe(false);
  });

  it.each([
    ['image/png', true],
    ['image/jpg', true],
    ['image/webp', true],
    ['image/svg+xml', true],
    ['image/gif', false],
    ['text/html', false],
  ])('of an icon of type %s is %s [973-4]', async (mimeType, expected) => {
    expect((await trustIcon({ src: 'https://mcp.example/i', mimeType }, at)).trusted).toBe(expected);
  });
});

describe('fetchIcon', () => {
  const at: TrustOptions = { server: 'https://mcp.example/' };
  const fetching = (body: BodyInit, seen: RequestInit[] = []) => ({
    ...at,
    fetch: async (_url: string, init: RequestInit) => {
      seen.push(init);
      return new Response(body, { headers: { 'content-type': 'image/png' } });
    },
  });

  it('sends no credentials, follows no redirect, and gives the bytes [973-4]', async () => {
    const seen: RequestInit[] = [];
    const src = await fetchIcon({ src: 'https://mcp.example/i.png' }, fetching(PNG, seen));
    expect(src).toBe(`data:image/png;base64,${PNG.toString('base64')}`);
    expect(seen).toEqual([{ redirect: 'error', credentials: 'omit', referrerPolicy: 'no-referrer' }]);
  });

  it('accepts only icons, up to their limit [973-4]', async () => {
    const icon = { src: 'https://mcp.example/i.png' };
    await expect(fetchIcon(icon, fetching(new Uint8Array(70_000)))).rejects.toMatchObject({ code: 'too-large' });
    await expect(fetchIcon(icon, fetching('<script>'))).rejects.toMatchObject({ code: 'invalid-answer' });
    const claimed = { ...icon, mimeType: 'image/webp' };
    await expect(fetchIcon(claimed, fetching(PNG))).rejects.toMatchObject({ code: 'invalid-answer' });
    const elsewhere = { src: 'https://evil.example/i.png' };
    await expect(fetchIcon(elsewhere, fetching(PNG))).rejects.toMatchObject({
      code: 'denied',
      data: { reason: 'origin' },
    });
  });
});

describe('forTerminal', () => {
  it.each([
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u009b31mred', '31mred'],
    ['\u001b]8;;https://evil.example\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['\u001bP1$r0m\u001b\\x', '1$r0mx'],
    ['\u001b\u001b[0m[31mx', '[31mx'],
    ['a\rb', 'ab'],
    ['a\tb\nc', 'a b c'],
    ['\u{1f468}\u200d\u{1f469}\u200d\u{1f467} é', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467} é'],
  ])('turns %j into %j', (text, expected) => {
    expect(forTerminal(text)).toBe(expected);
  });

  it('keeps lines if wanted, any number of them, and shortens a single line', () => {
    const lines = 'a\tb\r\n'.repeat(10_000);
    expect(forTerminal(lines, { lines: true })).toBe('a\tb\n'.repeat(10_000));
    expect(forTerminal('x'.repeat(10_000))).toHaveLength(8_192);
  });
});

describe('renderingOf', () => {
  const text = (mimeType: string, content = 'x') => checkContents({ mimeType, text: content });
  it.each([
    ['text/markdown', 'text'],
    ['application/json', 'text'],
    ['text/javascript; charset=utf-8', 'text'],
    ['application/atom+xml', 'text'],
    ['APPLICATION/XHTML+XML', 'sandbox'],
    ['text/html;charset=utf-8', 'sandbox'],
    ['application/x-unknown', 'download'],
  ])('shows %s as %s', async (mimeType, as) => {
    expect(renderingOf(await text(mimeType)).as).toBe(as);
  });

  it('does not show content that is too long, and saves no page as a page', async () => {
    const page = await text('text/html', 'x'.repeat(100));
    expect(renderingOf(page, { maxTextBytes: 99 })).toEqual({
      as: 'download',
      reason: 'too-large',
      mimeType: 'application/octet-stream',
    });
  });

  it('replaces invalid UTF-8', async () => {
    expect(await text('text/plain', 'a\ud800b')).toMatchObject({ text: 'a\ufffdb', problems: ['not-unicode'] });
  });
});
