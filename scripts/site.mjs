/**
 * Builds the site into `site/.vitepress/dist`: the pages of `docs`, the changelog, a reference made from the types in `dist`, a search
 * index and `llms.txt`. It fails for a broken link. Run `npm run build` before.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application } from 'typedoc';
import { build } from 'vitepress';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SITE = join(ROOT, 'site');
const PAGES = join(SITE, 'pages');
const { description, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

rmSync(PAGES, { recursive: true, force: true });
cpSync(join(ROOT, 'docs'), PAGES, { recursive: true });
writeFileSync(join(PAGES, 'changelog.md'), changes());
writeFileSync(join(PAGES, 'index.md'), home());
await writeReference();
mkdirSync(join(PAGES, 'public'));
writeFileSync(join(PAGES, 'public/llms.txt'), llmsText());
await build(SITE);

/** The page of the changelog, whose links start from the root of the repository. */
function changes() {
  const text = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  return text.replaceAll('](docs/', '](./').replace(/\]\((?=\w+\/)/g, '](../');
}

/** The page at the root. Its links are checked like all others. */
function home() {
  const actions = [
    { theme: 'brand', text: 'Get started', link: '/guide/getting-started' },
    { theme: 'alt', text: 'Guide', link: '/guide/' },
  ];
  const hero = { name: 'Vitrine', text: 'One tree of MCP resources', tagline: description, actions };
  return `---\n${JSON.stringify({ layout: 'home', hero })}\n---\n`;
}

/** Writes a page for each entry point of the package, from its types and comments. */
async function writeReference() {
  const entryPoints = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [join(ROOT, types)]));
  const app = await Application.bootstrapWithPlugins({
    name: 'Entry points',
    plugin: ['typedoc-plugin-markdown'],
    entryPoints,
    // Without `out`, TypeDoc would empty `docs` and write there.
    out: join(PAGES, 'api'),
    outputs: [{ name: 'markdown', path: join(PAGES, 'api') }],
    tsconfig: join(SITE, 'tsconfig.json'),
    skipErrorChecking: true,
    readme: 'none',
    router: 'module',
    hideBreadcrumbs: true,
    hidePageHeader: true,
    disableSources: true,
    excludeExternals: true,
    entryFileName: 'modules',
    pageTitleTemplates: {
      index: 'Entry points',
      module: ({ name }) => (name === 'index' ? 'vitrine' : `vitrine/${name}`),
    },
    logLevel: 'Error',
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('The types of the package have no reference');
  await app.generateOutputs(project);
}

/** Lists the pages for models, each with its first sentence: https://llmstxt.org */
function llmsText() {
  const folders = {
    Guide: 'guide',
    Providers: 'providers',
    Layers: 'layers',
    Extensions: 'extensions',
    Decisions: 'decisions',
  };
  const sections = Object.entries(folders).map(([title, folder]) => {
    const names = readdirSync(join(PAGES, folder)).filter((name) => name.endsWith('.md'));
    return `## ${title}\n\n${names.map((name) => lineOf(`${folder}/${name}`)).join('\n')}\n`;
  });
  return [`# Vitrine\n\n> ${description}\n`, ...sections].join('\n');
}

function lineOf(path) {
  const text = readFileSync(join(PAGES, path), 'utf8');
  const title = /^# (.+)$/m.exec(text)?.[1] ?? path;
  const about = /^(?![#|<>\s-]|```)[\s\S]+?(?=[.:]\s|\n\n)/m.exec(text)?.[0].replaceAll('\n', ' ') ?? '';
  return `- [${title}](/${path.replace(/(?:index)?\.md$/, '')}): ${about.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')}`;
}
