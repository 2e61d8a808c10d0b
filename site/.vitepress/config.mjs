/** The site: the pages of `docs` and the reference, in the groups of `docs/guide/index.md`. `scripts/site.mjs` builds it. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const PAGES = fileURLToPath(new URL('../pages/', import.meta.url));
const REPOSITORY = 'https://github.com/vitrine-mcp/vitrine';

const read = (path) => readFileSync(join(PAGES, path), 'utf8');
const titleOf = (path) => /^# (.+)$/m.exec(read(path))?.[1]?.replaceAll('`', '') ?? basename(path, '.md');
const entry = (path) => ({ text: titleOf(path), link: `/${path.replace(/(?:index)?\.md$/, '')}` });
const pagesIn = (folder) =>
  readdirSync(join(PAGES, folder), { recursive: true })
    .filter((name) => name.endsWith('.md'))
    .sort((a, b) => Number(b === 'index.md') - Number(a === 'index.md') || a.localeCompare(b))
    .map((name) => entry(`${folder}/${name}`));

/** The groups of the guide, each with the pages that its table links to. */
const guide = read('guide/index.md')
  .split(/^## /m)
  .slice(1)
  .flatMap((section) => {
    const pages = [...section.matchAll(/^\| \[[^\]]+\]\(([\w.-]+\.md)\)/gm)].map(([, page]) => entry(`guide/${page}`));
    return pages.length === 0 ? [] : [{ text: section.split('\n')[0], items: pages }];
  });

const group = (text, items) => ({ text, items, collapsed: true });

const sidebar = [
  ...guide,
  group('Providers', pagesIn('providers')),
  group('Layers', pagesIn('layers')),
  group('Extensions', pagesIn('extensions')),
  group('Entry points', pagesIn('api')),
  group('Decisions', pagesIn('decisions')),
  { text: 'Working on it', items: ['architecture.md', 'glossary.md', 'changelog.md'].map(entry) },
];

/** Nothing in a page is code: two braces are two braces. */
function leaveBraces({ renderer }) {
  const render = renderer.render.bind(renderer);
  renderer.render = (...args) => render(...args).replaceAll('{{', '&#123;&#123;');
}

/** Pages link to the source, too, which is in the repository. */
function linkToRepository(md) {
  leaveBraces(md);
  md.core.ruler.push('repository', ({ tokens, env }) => {
    for (const token of tokens.flatMap((each) => each.children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href === null || !/^\.{1,2}\//.test(href)) continue;
      const target = relative(PAGES, resolve(dirname(join(PAGES, env.relativePath)), href));
      if (target.startsWith('..'))
        token.attrSet('href', `${REPOSITORY}/blob/main/${target.replace(/^(?:\.\.\/)+/, '')}`);
    }
  });
}

export default defineConfig({
  title: 'Vitrine',
  description:
    'Puts folders, databases, APIs and other MCP servers behind glass: one tree of MCP resources to browse, read and watch.',
  srcDir: 'pages',
  cleanUrls: true,
  markdown: { config: linkToRepository },
  themeConfig: {
    sidebar,
    nav: [
      { text: 'Guide', link: '/guide/' },
      { text: 'Providers', link: '/providers/' },
      { text: 'Reference', link: '/api/modules' },
      { text: 'Changes', link: '/changelog' },
    ],
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
  },
});
