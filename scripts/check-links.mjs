/** Checks that each relative link and image in the Markdown files of this repository leads to a file, and to the heading that it names. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

// The pages of the museum are exhibits: their links lead to served resources, not to documentation.
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], { cwd: ROOT });
const pages = listed
  .toString()
  .split('\n')
  .filter((path) => path.endsWith('.md') && !path.startsWith('examples/museum/') && existsSync(join(ROOT, path)));

const broken = pages.flatMap((page) =>
  linksOf(page)
    .map((link) => ({ link, problem: problemOf(page, link) }))
    .filter(({ problem }) => problem !== undefined)
    .map(({ link, problem }) => `${page}: ${link} ${problem}`),
);
for (const line of broken) console.error(line);
if (broken.length > 0) process.exitCode = 1;
else console.log(`All relative links of ${pages.length} pages lead somewhere.`);

function prose(page) {
  return readFileSync(join(ROOT, page), 'utf8').replace(/^ *```[\s\S]*?^ *```$/gm, '');
}

function linksOf(page) {
  const text = prose(page).replace(/`[^`\n]*`/g, '');
  const found = [
    ...text.matchAll(/\]\(\s*<?([^)>\s]+)>?[^)]*\)/g),
    ...text.matchAll(/^\[[^\]]+\]:\s+(\S+)/gm),
    ...text.matchAll(/<(?:img|a|source)\b[^>]*?(?:src|href|srcset)="([^"]+)"/g),
  ];
  return found.map((match) => match[1]).filter((link) => !/^[a-z][a-z0-9+.-]*:/i.test(link));
}

function problemOf(page, link) {
  const [path, anchor] = link.split('#', 2);
  const target = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)));
  if (target.startsWith('..')) return 'leads out of the repository';
  if (!existsSync(join(ROOT, target))) return 'leads nowhere';
  if (anchor === undefined || !target.endsWith('.md') || headingsOf(target).has(anchor)) return undefined;
  return 'names no heading of that page';
}

/** The anchors that GitHub makes of the headings of a page. */
function headingsOf(page) {
  const titles = [...prose(page).matchAll(/^#{1,6} +(.+?)\s*#*$/gm)].map((match) => match[1]);
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replace(/\s/g, '-'),
    ),
  );
}
