/**
 * Public collections of attacks cover only the parameters of tools, and many servers check one operation and forget another. So every
 * URI of the corpus is sent through every operation that takes a URI: methods, completion, tools and prompts, in both eras. A resource
 * that no list shows must not be in any other answer. `paths.test.ts` covers the provider and changes.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesProvider } from '../../../src/providers/files/index.ts';
import { type HttpServing, serveHttp } from '../../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../../e2e/folders.ts';
import { ERAS, type Era } from '../../e2e/harness.ts';
import { INITIALIZE, post } from '../../e2e/raw.ts';
import { ATTACKS, attacksOn } from '../corpus.ts';
import { MARKER, makeScene, type Scene } from '../scene.ts';
import { ask, call, forEach } from './asking.ts';

let scene: Scene;
let prompts: Folder;
let vitrine: Vitrine;
let serving: HttpServing;
let attacks: readonly string[];

beforeAll(async () => {
  scene = await makeScene();
  attacks = [...ATTACKS, ...attacksOn(scene.parent.path)];
  prompts = await temporaryFolder({
    'show.md': '---\narguments: [{ name: uri }]\n---\n{{resource file:///{+uri}}}',
  });
  vitrine = createVitrine({
    mounts: [{ name: 'files', provider: await filesProvider({ path: scene.root }), prefix: 'none' }],
    promptFolders: [{ uri: 'file:///', provider: await filesProvider({ path: prompts.path }) }],
  });
  serving = await serveHttp(vitrine, { port: 0 });
});

afterAll(async () => {
  await serving?.close();
  await vitrine?.close();
  await prompts?.[Symbol.asyncDispose]();
  await scene?.[Symbol.asyncDispose]();
});

/** The headers of a session of the 2025 era, or none. */
async function headersOf(era: Era): Promise<Record<string, string>> {
  if (era === 'modern') return {};
  const begun = await post(serving.url, era, 'initialize', INITIALIZE);
  return { 'mcp-session-id': String(begun.headers['mcp-session-id']), 'mcp-protocol-version': '2025-11-25' };
}

interface Outcome {
  readonly refused: boolean;
  readonly text: string;
}

/** Every operation that takes a URI, and whether it has to refuse a missing resource. */
const ENTRIES: Readonly<
  Record<string, { readonly method: string; readonly params: (uri: string) => object; readonly refuses: boolean }>
> = {
  'resources/read': { method: 'resources/read', params: (uri) => ({ uri }), refuses: true },
  'resources/metadata': { method: 'resources/metadata', params: (uri) => ({ uri }), refuses: true },
  'resources/list': { method: 'resources/list', params: (uri) => ({ uri }), refuses: true },
  'resources/directory/read': { method: 'resources/directory/read', params: (uri) => ({ uri }), refuses: true },
  'completion of a template': {
    method: 'completion/complete',
    params: (uri) => ({
      ref: { type: 'ref/resource', uri: 'file:///{+path}' },
      argument: { name: 'path', value: typed(uri) },
    }),
    refuses: false,
  },
  'completion of a template that is none': {
    method: 'completion/complete',
    params: (uri) => ({ ref: { type: 'ref/resource', uri }, argument: { name: 'path', value: '' } }),
    refuses: true,
  },
  'a prompt that embeds it': {
    method: 'prompts/get',
    params: (uri) => ({ name: 'show', arguments: { uri: typed(uri) } }),
    refuses: true,
  },
  ...Object.fromEntries(
    ['read', 'read_embedded', 'list', 'describe', 'subscribe'].map((name) => [
      `the tool ${name}`,
      { method: 'tools/call', params: (uri: string) => ({ name, arguments: { uri } }), refuses: true },
    ]),
  ),
  'the tool search': {
    method: 'tools/call',
    params: (uri) => ({ name: 'search', arguments: { glob: '*', uri } }),
    refuses: true,
  },
};

const typed = (uri: string): string => uri.replace(/^[a-z+]*:\/{0,3}/i, '');

async function outcomeOf(era: Era, entry: string, uri: string, headers: Record<string, string>): Promise<Outcome> {
  const { method, params } = ENTRIES[entry] ?? { method: '', params: () => ({}) };
  const sent = params(uri);
  const name = 'name' in sent ? String(sent.name) : uri;
  const named = { 'mcp-name': `=?base64?${Buffer.from(name).toString('base64')}?=` };
  const answer = await post(serving.url, era, method, sent, era === 'modern' ? named : headers);
  return { text: answer.text, refused: answer.status !== 200 || /"error":|"isError":true/.test(answer.text) };
}

describe.each(ERAS)('in the %s era', (era) => {
  // Each entry gets a part of the corpus: requests of a session with the same id run one after the other, which takes long, and
  // `paths.test.ts` sends the whole corpus to the methods.
  const everyOther = (entry: string): number => (era === 'legacy' ? 24 : entry.startsWith('resources/') ? 16 : 4);

  it.each(Object.keys(ENTRIES))('resource URIs need a corpus of their own: %s [SEC-RES-1]', async (entry) => {
    const headers = await headersOf(era);
    await forEach(
      attacks.filter((_uri, at) => at % everyOther(entry) === 0),
      async (uri) => {
        const { refused, text } = await outcomeOf(era, entry, uri, headers);
        const shown = `${entry} ${uri.slice(0, 200)}: ${text.slice(0, 300)}`;
        if (ENTRIES[entry]?.refuses && !spellsAnother(entry, uri)) expect(refused, shown).toBe(true);
        const asked = [uri, typed(uri)].find((each) => text.includes(JSON.stringify(each).slice(1, -1))) ?? uri;
        expect(scene.leaks(text, asked), shown).toEqual([]);
      },
      era === 'modern' ? 16 : 1,
    );
  });

  it('read skips the check that list has: a resource that no list shows is in no other answer', async () => {
    const hidden = [
      '.env',
      '.hidden',
      '.git',
      '.git/config',
      'guide/.hidden.md',
      'server.pem',
      'id_rsa',
      'credentials',
      'credentials/login.txt',
      'out',
      'to-hidden',
    ];
    const headers = await headersOf(era);
    const { text: listed } = await ask(serving.url, era, 'resources/list', {});
    const { text: found } = await call(serving.url, era, 'search', { pattern: MARKER, literal: true });
    const { text: named } = await call(serving.url, era, 'search', { glob: '**' });
    const { text: everything } = await call(serving.url, era, 'list', {});
    for (const path of hidden) {
      const uri = `file:///${path}`;
      for (const text of [listed, found, named, everything]) expect(text).not.toContain(`"${uri}"`);
      const { text: missing } = await outcomeOf(era, 'resources/read', 'file:///nothing-there', headers);
      for (const entry of Object.keys(ENTRIES)) {
        const { text, refused } = await outcomeOf(era, entry, uri, headers);
        if (ENTRIES[entry]?.refuses) expect(refused, `${entry} ${uri}: ${text}`).toBe(true);
        else expect(text, `${entry} ${uri}`).toContain('"values":[]');
      }
      // The words are exactly those for a missing resource.
      const { text } = await outcomeOf(era, 'resources/read', uri, headers);
      expect(text.replaceAll(uri, 'URI')).toBe(missing.replaceAll('file:///nothing-there', 'URI'));
    }
    expect(found).not.toContain(`${MARKER}\\n`);
  });

  // A reference server put a caller's text into SQL. Callers here cannot send SQL. So this test checks that text with a meaning in
  // queries has none in searches and completions, which are the queries that callers can make.
  it('SQL injection (reference SQLite server): text of a caller is part of a query', async () => {
    const words = [
      "' OR '1'='1",
      "'; DROP TABLE notes; --",
      "x' UNION SELECT name FROM sqlite_master --",
      '%',
      '_',
      '\\',
      "''",
      '/*',
      '*/',
    ];
    for (const word of words) {
      const { text, message } = await call(serving.url, era, 'search', {
        pattern: `${word} never said`,
        literal: true,
      });
      expect(message.result?.isError ?? false, text).toBe(false);
      expect(JSON.stringify(message.result?.structuredContent ?? {})).not.toContain('file:///');
      const completed = await ask(serving.url, era, 'completion/complete', {
        ref: { type: 'ref/resource', uri: 'file:///{+path}' },
        argument: { name: 'path', value: word },
      });
      expect(completed.message.result).toMatchObject({ completion: { values: [] } });
    }
  });
});

/** Whether a URI may be accepted: one URI of the corpus is the template itself, and some are plain names in a prompt. */
const spellsAnother = (entry: string, uri: string): boolean =>
  (entry === 'completion of a template that is none' && uri === 'file:///{+path}') ||
  (entry === 'a prompt that embeds it' && /^[\w./ -]*$/.test(typed(uri)) && !typed(uri).includes('..'));
