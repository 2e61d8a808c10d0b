/** Writes `schema/vitrine.schema.json`, the JSON Schema of a configuration, for editors. `--check` compares only. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { config } from '../dist/config/schema.js';

const FILE = new URL('../schema/vitrine.schema.json', import.meta.url);

const schema = z.toJSONSchema(config, { io: 'input', target: 'draft-2020-12' });
const text = `${JSON.stringify({ ...schema, title: 'Vitrine configuration' }, null, 2)}\n`;

if (process.argv.includes('--check')) {
  if ((await readFile(FILE, 'utf8')) !== text)
    throw new Error('schema/vitrine.schema.json is stale: run npm run schema');
} else {
  await mkdir(new URL('.', FILE), { recursive: true });
  await writeFile(FILE, text);
}
