/** Searching in the explorer over real HTTP, without JavaScript: names and texts that the person may see. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesProvider } from '../../src/providers/files/index.ts';
import { createIndex } from '../../src/search/index.ts';
import { serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type VitrineOptions } from '../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { MUSEUM } from '../e2e/harness.ts';

const SECRET = 'AKIAIOSFODNN7EXAMPLD';
const MANY = 120;

interface Site extends AsyncDisposable {
  get(path: string): Promise<Response>;
  text(path: string): Promise<string>;
}

let folder: Folder;
let site: Site;

beforeAll(async () => {
  folder = await temporaryFolder({
    'clocks/winding.md': `# Winding\n\n${'line\n'.repeat(40)}Turn the Brass key <b>slowly</b>.\nThen rest.\n`,
    'clocks/BRASS key.txt': 'of another name',
    'hidden/brass.txt': 'a hidden brass key',
    'locked-brass.txt': 'a locked brass key',
    'keys.txt': `id ${SECRET} of the pendulum\n`,
    'windows.txt': 'first\r\na mainspring\r\nlast\r\n',
    'odd.txt': 'cost (a|b)* is 3.50$ [net] \\d\n',
    'many.txt': 'the same pendulum-free line: gong\n'.repeat(MANY),
  });
  site = await serve({});
});

afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
});

async function serve(options: Partial<VitrineOptions>): Promise<Site> {
  const vitrine = createVitrine({
    mounts: { docs: await filesProvider({ path: folder.path }) },
    access: {
      rules: [
        { effect: 'hide', uris: ['docs+file:///hidden/**', 'docs+file:///hidden'] },
        { effect: 'deny', uris: ['docs+file:///locked-brass.txt'], operations: ['read'] },
        { effect: 'allow', who: 'anyone' },
      ],
    },
    redact: {},
    ...options,
  });
  const serving = await serveHttp(vitrine, { port: 0 });
  const get = (path: string): Promise<Response> => fetch(new URL(path, serving.url), { redirect: 'manual' });
  return {
    get,
    text: async (path) => (await get(path)).text(),
    async [Symbol.asyncDispose]() {
      await serving.close();
      await vitrine.close();
    },
  };
}

const hrefs = (page: string): string[] =>
  [...page.matchAll(/class="k k-[a-z]+" href="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));

describe('a search', () => {
  it('has a field on every page, which keeps the words', async () => {
    for (const path of ['/', '/view/docs+file/clocks', '/view/docs+file/odd.txt', '/search'])
      expect(await site.text(path), path).toContain('<form role="search" action="/search">');
    expect(await site.text('/search?q=a%22b')).toContain('value="a&quot;b"');
  });

  it('finds names and texts in upper and lower case, and each link leads to the lines', async () => {
    const page = await site.text('/search?q=brass%20KEY');
    expect(hrefs(page)).toEqual([
      '/view/docs+file/clocks/BRASS%20key.txt',
      '/view/docs+file/clocks/winding.md?lines=42-44',
    ]);
    expect(page).toContain('Turn the Brass key &lt;b&gt;slowly&lt;/b&gt;.');
    const lines = await site.text('/view/docs+file/clocks/winding.md?lines=42-44');
    expect(lines).toContain('<pre dir="auto">line\nTurn the Brass key');
    expect(lines).not.toContain('# Winding\n');
    expect(lines).toContain('Lines 42 to 44');
  });

  it('shows nothing that is hidden, denied, or covered', async () => {
    const page = await site.text('/search?q=brass');
    expect(page).not.toContain('hidden');
    expect(page).not.toContain('a locked');
    expect(await site.text(`/search?q=${SECRET}`)).toContain('Nothing has these words');
    const covered = await site.text('/search?q=of%20the%20pendulum');
    expect(covered).toContain('of the pendulum');
    expect(covered).not.toContain(SECRET);
  });

  it.each(['(a|b)*', '3.50$', '[net] \\d', '(', '\\', '*'])('searches for %s literally', async (words) => {
    const response = await site.get(`/search?q=${encodeURIComponent(words)}`);
    expect(response.status).toBe(200);
    const found = (await response.text()).includes('/view/docs+file/odd.txt?lines=');
    expect(found).toBe('cost (a|b)* is 3.50$ [net] \\d'.includes(words));
  });

  it('shows line ends of Windows as line ends', async () => {
    for (const path of ['/search?q=mainspring', '/view/docs+file/windows.txt'])
      expect(await site.text(path), path).toContain('first\na mainspring\nlast');
  });

  it('continues page by page to its end', async () => {
    let at: string | undefined = '/search?q=gong';
    let places = 0;
    for (let pages = 0; at !== undefined && pages < 20; pages++) {
      const page: string = await site.text(at);
      places += [...page.matchAll(/many\.txt\?lines=/g)].length;
      at = /rel="next" href="([^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(at).toBeUndefined();
    expect(places).toBe(MANY);
  });

  it.each([
    ['/search?q=gong&cursor=nonsense', 200, /cursor/],
    ['/search?q=', 200, /Search everything/],
    [`/search?q=${'x'.repeat(5_000)}`, 200, /Nothing has these words/],
    ['/search?q=%E2%80%AEgong', 200, /\\u\{202e\}/],
    ['/view/docs+file/odd.txt?lines=0-9', 200, /cost/],
    ['/view/docs+file/many.txt?lines=1-200', 200, /Lines 1 to 200 /],
    ['/view/docs+file/many.txt?lines=1-201', 200, /Lines 1 to 200 /],
    ['/view/docs+file/many.txt?lines=3-9999999999', 200, /Lines 3 to 202 /],
    ['/view/docs+file/odd.txt?lines=7-9', 200, /cannot be understood/],
  ])('shows a page for an odd address: %.60s', async (path, status, says) => {
    const response = await site.get(path);
    expect(response.status).toBe(status);
    expect(await response.text()).toMatch(says);
  });

  it('gives the best places first if there is an index', async () => {
    await using indexed = await serve({ index: createIndex({ folder: folder.at('.index') }) });
    const page = (): Promise<string> => indexed.text('/search?q=how%20do%20I%20turn%20a%20brass%20key');
    await expect
      .poll(async () => hrefs(await page())[0], { timeout: 30_000 })
      .toMatch(/^\/view\/docs\+file\/clocks\/winding\.md\?lines=4\d-4\d$/);
    expect(await page()).not.toMatch(/hidden|a locked/);
  });

  it.each([
    ['how is the carriage clock wound', /^\/view\/museum\+file\/collection\/clocks\/winding\.toml\?lines=/],
    ['visitors in spring', /^\/view\/museum\+file\/office\/visitors\.xlsx\?lines=/],
  ])('answers %s in the museum', async (words, place) => {
    const mounts = { museum: await filesProvider({ path: MUSEUM }) };
    await using museum = await serve({
      forms: {},
      mounts,
      access: { default: 'allow', rules: [] },
      index: createIndex({ folder: folder.at('.museum') }),
    });
    const page = (): Promise<string> => museum.text(`/search?q=${encodeURIComponent(words)}`);
    await expect.poll(async () => hrefs(await page())[0], { timeout: 30_000 }).toMatch(place);
  });

  it('does not exist without the search tools', async () => {
    await using without = await serve({ resourceTools: false });
    expect(await without.text('/')).not.toContain('role="search"');
    expect((await without.get('/search?q=brass')).status).toBe(404);
  });
});
