/**
 * `npm run new provider NAME` makes a provider in the form of the others, with its contract test and its page, and registers it for the
 * configuration. It serves texts of the configuration until its `entries.ts` is changed.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TEMPLATES = join(ROOT, 'scripts/new/provider');

const [what, name] = process.argv.slice(2);
if (what !== 'provider' || name === undefined) fail('Say what to make, as in: npm run new provider mail');
if (!/^[a-z][a-z0-9]{1,19}$/.test(name))
  fail(`"${name}" is no name: 2 to 20 lower-case letters and digits, a letter first`);
if (existsSync(join(ROOT, 'src/providers', name))) fail(`src/providers/${name} is there already`);

const Name = name[0].toUpperCase() + name.slice(1);

const files = {
  ...Object.fromEntries(
    ['config', 'entries', 'list', 'read', 'index'].map((file) => [`${file}.ts`, `src/providers/${name}/${file}.ts`]),
  ),
  'contract.ts': `src/providers/${name}/${name}.contract.test.ts`,
  'kind.ts': `src/config/kinds/${name}.ts`,
  'page.md': `docs/providers/${name}.md`,
};
for (const [template, target] of Object.entries(files)) {
  const text = readFileSync(join(TEMPLATES, template), 'utf8');
  // The tag `@example` in comments stays.
  const named = text.replace(/(?<!@)example/g, name).replaceAll('Example', Name);
  mkdirSync(dirname(join(ROOT, target)), { recursive: true });
  writeFileSync(join(ROOT, target), named, { flag: 'wx' });
}

edit('src/config/kinds/index.ts', (text) =>
  withImport(text, `./${name}.ts`, `${name}Kind`).replace(/(const KINDS: [^=]+= \[[^\]]+)\]/, `$1, ${name}Kind]`),
);
edit('src/config/schema.ts', (text) =>
  withImport(text, `../providers/${name}/config.ts`, `${name}Config`).replace(
    /( {2}pluggedMount,\n\]\);)/,
    `  ${name}Config.extend(everyMount),\n$1`,
  ),
);
edit('scripts/check-options.mjs', (text) =>
  text.replace(/(const KINDS = \{[^}]+[^ }]) \}/, `$1, ${name}: '${name}' }`),
);
edit('docs/providers/index.md', (text) =>
  text.replace(/(\n\| \[upstream\])/, `\n| [${name}](${name}.md) | texts by their names | configuration, library |$1`),
);
edit('docs/guide/configuration.md', (text) =>
  text.replace(
    /(\n\| texts that stand in the configuration itself)/,
    `\n| texts by their names | \`${name}\` | [${name}](../providers/${name}.md) |$1`,
  ),
);

console.log(`src/providers/${name} is made, registered, and passes its contract. From here:

  src/providers/${name}/entries.ts   what it serves, and how that is described
  docs/providers/${name}.md          what it is, with all its options
  npm run format && npm run build && npm run schema && node scripts/check-options.mjs
  npx vitest run src/providers/${name}

For programs, export it: "./providers/${name}" in package.json and tsdown.config.ts. Where a setting may refer to the environment, add it
to REFERRING in src/config/references.ts. Users read of it in CHANGELOG.md.`);

/** Changes one file. Fails if the place to change is not found: then this script has to be adapted to the file. */
function edit(path, change) {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const changed = change(text);
  if (!changed.includes(name) || changed === text)
    fail(`${path} has no place for ${name} any more; scripts/new.mjs has to know its new shape`);
  writeFileSync(join(ROOT, path), changed);
}

/** Inserts an import among the others, which are in the order of their paths. */
function withImport(text, path, imported) {
  const lines = text.split('\n');
  const group = path.slice(0, path.indexOf('/') + 1);
  const before = lines.findLastIndex((line) => {
    const other = /^import .* from '([^']+)';$/.exec(line)?.[1];
    return other?.startsWith(group) && other < path;
  });
  return lines.toSpliced(before + 1, 0, `import { ${imported} } from '${path}';`).join('\n');
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
