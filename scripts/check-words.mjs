/**
 * Checks that comments and pages use the words of the glossary (docs/glossary.md), and that no comment begins with "What" or "Where".
 * Prints each place, with the word to use instead.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Patterns of replaced words, in the senses in which Vitrine used them. */
const RETIRED = [
  [/\bdrivers?\b/i, 'say "provider"'],
  [/\bmiddlewares?\b/i, 'say "layer"'],
  [/\bsurroundings\b/i, 'name the options or the context'],
  [/\bhandshaking\b/i, 'say "connects" or "negotiates"'],
  [/\btold to nobody\b/i, 'say "not sent"'],
];

/** Matches the beginning of a comment that a reader understands only at its end. */
const RIDDLE = /(?:^\s*(?:\/?\*{1,2}|\{\/\*\*?)|(?:^|\s)\/\/) (What|Where)(?:'s)?\b/;
const COMMENT = /(?:^\s*(?:\/\*\*|\*)|(?:^|\s)\/\/) (.*)$/;

const found = [
  ...['src', 'plug-ins', 'examples', 'test', 'bench', 'scripts', ':(glob)*.ts']
    .flatMap((place) => filesOf(place, '.ts', '.tsx', '.mjs'))
    .flatMap((path) =>
      linesOf(path).flatMap(({ line, at }) => {
        const riddle = RIDDLE.exec(line)?.[1];
        const begins = riddle === undefined ? [] : [`${path}:${at}: begins with "${riddle}": begin with who does what`];
        return [...begins, ...retiredIn(COMMENT.exec(line)?.[1] ?? '', path, at)];
      }),
    ),
  ...['docs', 'README.md', 'CONTRIBUTING.md', 'SECURITY.md']
    .flatMap((place) => filesOf(place, '.md'))
    .filter((path) => path !== 'docs/glossary.md')
    .flatMap((path) => linesOf(path).flatMap(({ line, at }) => retiredIn(line, path, at))),
];
for (const line of found) console.error(line);
if (found.length > 0) process.exitCode = 1;
else console.log('Comments and pages use the words of the glossary.');

function filesOf(place, ...ends) {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', place], { cwd: ROOT });
  return listed
    .toString()
    .split('\n')
    .filter((path) => ends.some((end) => path.endsWith(end)) && existsSync(join(ROOT, path)));
}

function linesOf(path) {
  const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
  return lines.map((line, index) => ({ line, at: index + 1 }));
}

function retiredIn(text, path, at) {
  return RETIRED.filter(([word]) => word.test(text)).map(
    ([word, instead]) => `${path}:${at}: ${word.exec(text)?.[0]}: ${instead}`,
  );
}
