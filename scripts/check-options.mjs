/** Checks that the documentation names every credential glob, and exactly the keys of a configuration and options of commands. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { CREDENTIAL_GLOBS } from '../dist/providers/files.js';

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const problems = [];

/** Reports names that exist and are not documented, and names that are documented and do not exist. */
function compare(what, page, there, documented) {
  for (const name of there) if (!documented.has(name)) problems.push(`${page} does not document the ${what} ${name}`);
  for (const name of documented)
    if (!there.has(name)) problems.push(`${page} documents a ${what} ${name}, which is not there`);
}

/** Names in the first column of tables, in backticks. */
const inTables = (text) => new Set([...text.matchAll(/^\| `([^`]+)` +\|/gm)].map((match) => match[1]));

/**
 * The paths of all keys of a JSON Schema. Entries of lists add no part to a path. Keys that users choose are written as `<name>`,
 * unless their values are only texts.
 */
function keysOf(schema, path = '') {
  const below = (key, inner) => [path === '' ? key : `${path}.${key}`].flatMap((at) => [at, ...keysOf(inner, at)]);
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => below(key, inner)),
    ...(isMore(schema.additionalProperties) ? below('<name>', schema.additionalProperties) : []),
    ...(schema.items === undefined ? [] : keysOf(schema.items, path)),
    ...(schema.anyOf ?? schema.oneOf ?? []).flatMap((inner) => keysOf(inner, path)),
  ];
}

function isMore(schema) {
  return typeof schema === 'object' && Object.keys(schema).length > 0 && schema.type !== 'string';
}

const CONFIGURATION = 'docs/guide/configuration.md';
const configuration = read(CONFIGURATION);
const schema = JSON.parse(read('schema/vitrine.schema.json'));
const ofMounts = new Set(keysOf(schema.properties.mounts.additionalProperties));
// An entry of a host has the keys of a mount, which the page of mounts documents, and some of its own.
const ENTRY = 'mcpServers.<name>.';
const keys = keysOf(schema).filter((key) => !key.startsWith(ENTRY) || !ofMounts.has(key.slice(ENTRY.length)));
/** Kinds of data by the key that only their blocks have. Each kind has its own page, which documents its other keys. */
const KINDS = { resources: 'memory', git: 'git', sql: 'sql', http: 'http', s3: 's3', run: 'command' };
const MOUNT = 'mounts.<name>.';
const ofKinds = new Set(Object.keys(KINDS).flatMap((key) => keysOfMounts(key).map((each) => `${MOUNT}${each}`)));
const elsewhere = ['path', 'command', 'url'].flatMap((key) => keysOfMounts(key).map((each) => `${MOUNT}${each}`));
for (const key of elsewhere) ofKinds.delete(key);
const general = keys.filter((key) => !ofKinds.has(key));
// A key with its own section needs no row in a table.
const sections = [...configuration.matchAll(/^## `([^`]+)`$/gm)].map((match) => match[1]);
compare(
  'key',
  CONFIGURATION,
  new Set(general),
  new Set([...inTables(configuration), ...sections, ...parentsOf(general)]),
);

/** The keys that only contain other keys. They need no row in a table. */
function parentsOf(all) {
  return all.filter((key) => all.some((other) => other.startsWith(`${key}.`)));
}

const FILES = 'docs/providers/files.md';
const files = read(FILES);
const section = (text, title) => text.split(new RegExp(`^#+ ${title}$`, 'm'))[1]?.split(/^#+ /m)[0] ?? '';
/** The keys of those mounts that require a key. */
function keysOfMounts(needed) {
  const blocks = schema.properties.mounts.additionalProperties.anyOf.filter((each) => each.required?.includes(needed));
  return blocks.flatMap((block) => keysOf(block));
}
const filesKeys = keysOfMounts('path').filter((key) => !['prefix', 'forms', 'skills', 'index'].includes(key));
compare('option', FILES, new Set(filesKeys), inTables(section(files, 'Options')));

const UPSTREAM = 'docs/providers/upstream.md';
const upstream = read(UPSTREAM);
// Icons are documented with the configuration.
const upstreamKeys = [...keysOfMounts('command'), ...keysOfMounts('url')].filter(
  (key) => !key.startsWith('icons.') && !['forms', 'skills', 'index'].includes(key),
);
const documented = [...inTables(section(upstream, 'Options')), ...inTables(section(upstream, 'Authorization'))];
compare('option', UPSTREAM, new Set(upstreamKeys), new Set([...documented, ...parentsOf(upstreamKeys)]));

/** The options of every mount. Only the page of the configuration documents them. */
const OF_EVERY_MOUNT = /^(?:prefix|forms|skills|index|icons(?:\..*)?)$/;
for (const [key, name] of Object.entries(KINDS)) {
  const page = `docs/providers/${name}.md`;
  const options = keysOfMounts(key).filter((each) => !OF_EVERY_MOUNT.test(each));
  if (options.length === 0) problems.push(`No mount has the key ${key}`);
  // The page may leave out the key in the names of options below it.
  const short = (option) => option.replace(new RegExp(`^${key}\\.(?:<name>\\.)?(?=.)`), '');
  const named = [...inTables(section(read(page), 'Options')), ...parentsOf(options)].map(short);
  compare('option', page, new Set(options.map(short)), new Set(named));
}

for (const glob of CREDENTIAL_GLOBS) {
  if (!section(files, 'Credentials').includes(`\`${glob}\``)) problems.push(`${FILES} does not name ${glob}`);
}

/** The flags that the help of a command lists. */
function flagsOf(command) {
  const cwd = new URL('..', import.meta.url);
  const help = execFileSync('node', ['dist/cli/main.js', ...command.split(' '), '--help'], { cwd, encoding: 'utf8' });
  return [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map((match) => match[1]);
}

const SERVING = 'docs/guide/serving.md';
const serving = flagsOf('serve');
compare('flag', SERVING, new Set(serving), inTables(section(read(SERVING), 'Flags')));

const LOOKING = 'docs/guide/command-line.md';
const SKILLS = ['ls', 'show', 'get', 'verify'].map((each) => `skills ${each}`);
const COMMANDS = [
  ...'ls tree stat open website cat grep find watch templates tools call prompts servers'.split(' '),
  ...SKILLS,
];
// `--help` is the same for all commands.
const looking = COMMANDS.flatMap(flagsOf).filter((flag) => flag !== '--help');
compare('flag', LOOKING, new Set(looking), inTables(section(read(LOOKING), 'Options')));
// These commands also have the options of all commands, which `stat` has.
const ofAll = new Set([...flagsOf('stat'), '--help']);
const OWN_PAGES = { get: 'docs/guide/get.md', doctor: 'docs/guide/doctor.md' };
for (const [command, page] of Object.entries(OWN_PAGES)) {
  const flagsHere = flagsOf(command).filter((flag) => !ofAll.has(flag));
  compare('flag', page, new Set(flagsHere), inTables(section(read(page), 'Options')));
}
const flags = [...serving, ...looking];
if (flags.length === 0 || keys.length === 0) problems.push('Nothing was compared');

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else console.log(`${keys.length} keys, ${flags.length} flags and ${CREDENTIAL_GLOBS.length} globs are documented.`);
