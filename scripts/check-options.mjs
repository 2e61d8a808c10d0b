/** The documentation names every key of the configuration, option of the command and credential glob, and no others. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { CREDENTIAL_GLOBS } from '../dist/providers/files.js';

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const problems = [];

/** Both ways: what is there is documented, and what is documented is there. */
function compare(what, page, there, documented) {
  for (const name of there) if (!documented.has(name)) problems.push(`${page} does not document the ${what} ${name}`);
  for (const name of documented)
    if (!there.has(name)) problems.push(`${page} documents a ${what} ${name}, which is not there`);
}

/** Names in the first column of tables, in backticks. */
const inTables = (text) => new Set([...text.matchAll(/^\| `([^`]+)` +\|/gm)].map((match) => match[1]));

/** Paths of all keys of a JSON Schema; entries of lists add nothing, and names that are free are `<name>`. */
function keysOf(schema, path = '') {
  const below = (key, inner) => [path === '' ? key : `${path}.${key}`].flatMap((at) => [at, ...keysOf(inner, at)]);
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => below(key, inner)),
    ...(typeof schema.additionalProperties === 'object' ? below('<name>', schema.additionalProperties) : []),
    ...(schema.items === undefined ? [] : keysOf(schema.items, path)),
    ...(schema.anyOf ?? []).flatMap((inner) => keysOf(inner, path)),
  ];
}

const CONFIGURATION = 'docs/guide/configuration.md';
const configuration = read(CONFIGURATION);
const keys = keysOf(JSON.parse(read('schema/vitrine.schema.json')));
// A section of its own is as good as a row.
const sections = [...configuration.matchAll(/^## `([^`]+)`$/gm)].map((match) => match[1]);
compare('key', CONFIGURATION, new Set(keys), new Set([...inTables(configuration), ...sections, ...parentsOf(keys)]));

/** Keys that only hold others need no row. */
function parentsOf(all) {
  return all.filter((key) => all.some((other) => other.startsWith(`${key}.`)));
}

const FILES = 'docs/providers/files.md';
const files = read(FILES);
const section = (text, title) => text.split(new RegExp(`^#+ ${title}$`, 'm'))[1]?.split(/^#+ /m)[0] ?? '';
const mountKeys = keys
  .filter((key) => key.startsWith('mounts.<name>.'))
  .map((key) => key.slice('mounts.<name>.'.length));
compare('option', FILES, new Set(mountKeys.filter((key) => key !== 'prefix')), inTables(section(files, 'Options')));

for (const glob of CREDENTIAL_GLOBS) {
  if (!section(files, 'Credentials').includes(`\`${glob}\``)) problems.push(`${FILES} does not name ${glob}`);
}

const SERVING = 'docs/guide/serving.md';
const help = execFileSync('node', ['dist/cli/main.js', 'serve', '--help'], {
  cwd: new URL('..', import.meta.url),
  encoding: 'utf8',
});
const flags = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map((match) => match[1]);
compare('flag', SERVING, new Set(flags), inTables(section(read(SERVING), 'Flags')));
if (flags.length === 0 || keys.length === 0) problems.push('Nothing was compared');

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`${keys.length} keys, ${flags.length} flags and ${CREDENTIAL_GLOBS.length} globs are documented.`);
