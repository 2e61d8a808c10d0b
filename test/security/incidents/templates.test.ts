/** URI templates that were expanded as text, and matched by backtracking. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineProvider } from '../../../src/core/define-provider.ts';
import { parseUriTemplate } from '../../../src/core/uri-template.ts';
import { filesProvider } from '../../../src/providers/files/index.ts';
import { upstream } from '../../../src/providers/upstream/index.ts';
import { type HttpServing, serveHttp } from '../../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../../e2e/folders.ts';
import { ERAS } from '../../e2e/harness.ts';
import { within } from '../../e2e/waiting.ts';
import { MARKER } from '../scene.ts';
import { ask } from './asking.ts';
import { type RecordedServer, recordedServer } from './recorded-server.ts';

/** Values with characters that have a meaning in a URL. */
const VALUES = [
  '../../admin/keys',
  '..',
  '%2e%2e%2fadmin',
  '/admin',
  '//evil.example/x',
  '\\\\evil.example\\x',
  'x?admin=true',
  'x#y',
  'x&role=admin',
  'x;role=admin',
  '@evil.example',
  ':80@evil.example/',
  'http://169.254.169.254/latest/meta-data/',
  'x\r\nHost: evil.example',
  '\u0000',
];

describe('CVE-2026-32871: a variable is put into a URL unencoded, and the URL leads elsewhere [SEC-RES-5]', () => {
  const BASE = 'https://api.example/v1/users/';

  it.each(VALUES)('%j stays one segment, one value or one parameter', (value) => {
    const path = new URL(parseUriTemplate(`${BASE}{id}/posts`).expand({ id: `a${value}` }));
    expect([path.host, path.search, path.hash]).toEqual(['api.example', '', '']);
    expect(path.pathname.split('/').slice(0, 4)).toEqual(['', 'v1', 'users', encodeStrictly(`a${value}`)]);
    expect(path.pathname.endsWith('/posts')).toBe(true);
    const query = new URL(parseUriTemplate(`${BASE}x{?q,role}`).expand({ q: value, role: 'reader' }));
    expect([...query.searchParams]).toEqual([
      ['q', value],
      ['role', 'reader'],
    ]);
  });

  it.each(VALUES)('%j matches only where it is encoded as one value', (value) => {
    const template = parseUriTemplate(`${BASE}{id}`);
    if (/[^\w.%]/.test(value)) expect(template.match(BASE + value)).toBeUndefined();
    expect(template.match(BASE + encodeStrictly(value))?.id).toBe(value);
  });

  const encodeStrictly = (text: string): string =>
    encodeURIComponent(text).replace(/[!'()*]/g, (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`);

  describe.each(ERAS)('in the %s era', (era) => {
    let folder: Folder;
    let far: RecordedServer;
    let vitrine: Vitrine;
    let serving: HttpServing;

    beforeAll(async () => {
      folder = await temporaryFolder({
        'docs/a.txt': 'inside',
        'secret.txt': MARKER,
        'prompts/show.md': '---\narguments: [{ name: file }]\n---\n{{resource docs+file:///{file}}}',
      });
      far = await recordedServer();
      const reached = upstream({
        name: 'far',
        target: { url: far.url, headers: { authorization: 'Bearer only-for-far' } },
      });
      vitrine = createVitrine({
        mounts: [
          { name: 'docs', provider: await filesProvider({ path: folder.at('docs') }) },
          { name: 'far', provider: reached.provider, server: reached.server },
        ],
        promptFolders: [{ uri: 'file:///', provider: await filesProvider({ path: folder.at('prompts') }) }],
      });
      expect(await reached.ready(60_000)).toBe(true);
      serving = await serveHttp(vitrine, { port: 0 });
    });

    afterAll(async () => {
      await serving?.close();
      await vitrine?.close();
      await far?.[Symbol.asyncDispose]();
      await folder?.[Symbol.asyncDispose]();
    });

    it('an argument of a prompt becomes one segment of the URI of the embedded resource', async () => {
      const shown = await ask(serving.url, era, 'prompts/get', { name: 'show', arguments: { file: 'a.txt' } });
      expect(shown.text).toContain('inside');
      for (const file of [...VALUES, '../secret.txt', '..%2fsecret.txt', '../../etc/passwd']) {
        const { refused, text } = await ask(serving.url, era, 'prompts/get', { name: 'show', arguments: { file } });
        expect(refused, file).toBe(true);
        expect(text).not.toContain(MARKER);
      }
    });

    it('no URI and no variable changes the address at which a server over HTTP is asked', async () => {
      for (const value of VALUES) {
        await ask(serving.url, era, 'resources/read', { uri: `far+memory:///${value}` });
        await ask(serving.url, era, 'resources/metadata', { uri: `far+${value}` });
        await ask(serving.url, era, 'completion/complete', {
          ref: { type: 'ref/resource', uri: 'far+memory:///{+path}' },
          argument: { name: 'path', value },
        });
        await ask(serving.url, era, 'prompts/get', { name: value, arguments: {} });
        await ask(serving.url, era, 'tools/call', { name: `far_${value}`, arguments: {} });
      }
      expect(far.requests.length).toBeGreaterThan(VALUES.length);
      expect(far.requests.filter((line) => !/^(?:POST|GET|DELETE) \/mcp$/.test(line))).toEqual([]);
    });
  });
});

describe('CVE-2026-0621: the time to match a URI grows with the number of ways to read it [SEC-RES-5]', () => {
  /** Exploded lists, whose patterns backtracked. match.test.ts bounds the steps that they take. */
  const TEMPLATES = ['api:///items{/id*}', 'api:///find{?tags*}', 'api:///more{?a*,b*}{&c*}', 'api:///x{;p*}/y{.q*}!'];
  const HOSTILE = [
    `api:///items${'/a'.repeat(15_000)}\u0000`,
    `api:///items${'/'.repeat(30_000)}!`,
    `api:///items/${','.repeat(30_000)} `,
    `api:///find?${'tags=a&'.repeat(4_000)}tags`,
    `api:///more?${'a=1&b=1&'.repeat(3_000)}"`,
    `api:///x${';p=1'.repeat(6_000)}/y${'.a'.repeat(6_000)}`,
  ];

  it.each(ERAS)('a server with such templates keeps answering other callers, in the %s era', async (era) => {
    const provider = defineProvider({
      name: 'api',
      scheme: 'api',
      list: () => [{ uri: 'api:///good' }],
      read: (uri) => (uri === 'api:///good' ? 'good' : undefined),
      templates: TEMPLATES.map((uriTemplate) => ({ uriTemplate, name: uriTemplate, read: () => undefined })),
    });
    const vitrine = createVitrine({ mounts: [{ name: 'api', provider, prefix: 'none' }] });
    const serving = await serveHttp(vitrine, { port: 0 });
    try {
      const good = Array.from({ length: 5 }, () => ask(serving.url, era, 'resources/read', { uri: 'api:///good' }));
      const bad = HOSTILE.flatMap((uri) => [
        ask(serving.url, era, 'resources/read', { uri }, era === 'modern' ? LONG : {}),
        ask(serving.url, era, 'resources/metadata', { uri }),
      ]);
      for (const { message } of await within(Promise.all(good), 'the others')) {
        expect(message.result).toMatchObject({ contents: [{ text: 'good' }] });
      }
      for (const { refused, text } of await within(Promise.all(bad), 'those who asked for it')) {
        expect(refused, text.slice(0, 200)).toBe(true);
      }
    } finally {
      await serving.close();
      await vitrine.close();
    }
  });

  /** The URI does not fit into a header. */
  const LONG = { 'mcp-name': 'api:///items' };
});
