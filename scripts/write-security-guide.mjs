/**
 * Writes the tables of `docs/guide/security.md` that say where each clause is met and which tests show it, from
 * `test/requirements.ts`, `test/security/incidents.ts` and the titles of all tests. With `--check` it only compares.
 *
 * The written parts stand between `<!-- begin: NAME -->` and `<!-- end: NAME -->`. Fails if no file is named for a clause of the security
 * document, or if an attack that happened is in no title of a test.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = `${ROOT}docs/guide/security.md`;
const STALE = 'docs/guide/security.md is stale: run node scripts/write-security-guide.mjs';
const DOCUMENT = 'MCP data structures and security';

const { REQUIREMENTS } = await load('test/requirements.ts');
const { INCIDENTS } = await load('test/security/incidents.ts');
const { titledFiles, citationsIn } = await load('test/citations.ts');

const files = titledFiles(ROOT);
const citations = files.flatMap((file) => citationsIn(file));

const page = readFileSync(PAGE, 'utf8');
const ofDocument = REQUIREMENTS.filter(({ source }) => source === DOCUMENT);
const others = REQUIREMENTS.filter(({ source, where }) => source !== DOCUMENT && where.length > 0);
const written = [
  ['clauses', tableOfClauses(ofDocument)],
  ['other clauses', tableOfClauses(others)],
  ['incidents', tableOfIncidents()],
].reduce((text, [name, table]) => withPart(text, name, table), page);

if (process.argv.includes('--check')) {
  if (written !== page) throw new Error(STALE);
} else {
  writeFileSync(PAGE, written);
}

/** Loads a TypeScript module that imports only modules of Node.js. */
async function load(path) {
  const { outputText } = ts.transpileModule(readFileSync(ROOT + path, 'utf8'), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputText).toString('base64')}`);
}

function tableOfClauses(clauses) {
  const rows = clauses.map(({ id, text, status, where }) => {
    if (where.length === 0) throw new Error(`${id} is met nowhere: say where in test/requirements.ts`);
    const tests = [...new Set(citations.filter((each) => each.id === id).map(({ file }) => file))];
    return [`\`${id}\` ${text}`, provedBy(status, tests), list(where), list(tests)];
  });
  return table(['clause', 'proved', 'met in', 'shown by'], rows);
}

function provedBy(status, tests) {
  if (status === 'proved') return 'yes';
  return tests.length === 0 ? 'not yet' : 'in part';
}

function tableOfIncidents() {
  const rows = INCIDENTS.map(({ cited, what, here }) => {
    const tests = new Set(cited.flatMap(testsNaming));
    const ids = cited.filter((each) => each.startsWith('CVE-')).join(', ');
    return [ids === '' ? what : `${what} (${ids})`, here, list([...tests].sort())];
  });
  return table(['what happened', 'here', 'shown by'], rows);
}

/** The files with a test whose title contains these words. */
function testsNaming(words) {
  const found = files.filter(({ strings }) => strings.some((each) => each.includes(words)));
  if (found.length === 0) throw new Error(`No test has "${words}" in its title`);
  return found.map(({ file }) => file);
}

function table(heads, rows) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Links from the page to files and folders of the repository. */
function list(paths) {
  return paths.length === 0 ? 'nothing' : paths.map(linkTo).join(', ');
}

function linkTo(path) {
  if (!existsSync(ROOT + path)) throw new Error(`There is no ${path}`);
  const name = path.replace(/^(?:src|test)\//, '').replace(/\.(?:test\.ts|ts|md)$/, '');
  const slash = statSync(ROOT + path).isDirectory() ? '/' : '';
  return `[${name}${slash}](${relative(dirname(PAGE), ROOT + path)})`;
}

function withPart(text, name, content) {
  const [begin, end] = [`<!-- begin: ${name} -->`, `<!-- end: ${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`docs/guide/security.md has no part called "${name}"`);
  return `${text.slice(0, from + begin.length)}\n\n${content}\n\n${text.slice(to)}`;
}
