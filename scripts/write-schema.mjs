/**
 * Writes two JSON Schemas: `schema/vitrine.schema.json` of a configuration, for editors, and `schema/sep-2093.schema.json` of SEP-2093.
 * With `--check` it only compares.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { config } from '../dist/config/schema.js';
import { RESOURCE_HIERARCHY_SCHEMAS } from '../dist/sep-2093.js';

const FOLDER = new URL('../schema/', import.meta.url);
const OPTIONS = { io: 'input', target: 'draft-2020-12' };

/** Each schema under its name. A schema that is in another one is a reference there. */
function definitions(schemas) {
  const registry = z.registry();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, { ...OPTIONS, uri: (id) => `#/$defs/${id}` }).schemas;
  return Object.fromEntries(Object.entries(made).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema]));
}

const FILES = {
  'vitrine.schema.json': { ...z.toJSONSchema(config, OPTIONS), title: 'Vitrine configuration' },
  'sep-2093.schema.json': {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'SEP-2093: resource metadata, capabilities and lists by URI',
    $defs: definitions(RESOURCE_HIERARCHY_SCHEMAS),
  },
};

await mkdir(FOLDER, { recursive: true });
for (const [name, schema] of Object.entries(FILES)) {
  const file = new URL(name, FOLDER);
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  if (!process.argv.includes('--check')) await writeFile(file, text);
  else if ((await readFile(file, 'utf8')) !== text) throw new Error(`schema/${name} is stale: run npm run schema`);
}
