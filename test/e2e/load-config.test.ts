/** A program serves a configuration file as `vitrine serve` would. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../../src/configured/index.ts';
import { createVitrine } from '../../src/index.ts';
import { ERAS } from './harness.ts';

const mode = { legacy: { mode: 'legacy' }, modern: { mode: { pin: '2026-07-28' } } } as const;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-load-'));
  await writeFile(join(folder, 'hours.md'), '10 to 17');
  await writeFile(join(folder, 'key.txt'), 'four digits');
});
afterAll(() => rm(folder, { recursive: true }));

async function written(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

const RULES = `
mounts:
  house: { path: . }
access:
  rules:
    - { effect: allow, who: anyone, uris: ['house+file:///*.md'] }
audit: { file: audit.jsonl }
`;

it.each(ERAS)(
  'its mounts, rules and audit apply, relative to the file whatever the working directory, %s',
  async (era) => {
    const file = await written('rules.yaml', RULES);
    const vitrine = createVitrine(await loadConfig(file));
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: mode[era] });
    const fetch = async (input: string | URL | Request, init?: RequestInit) => vitrine.fetch(new Request(input, init));
    await client.connect(new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch }));
    try {
      const { contents } = await client.readResource({ uri: 'house+file:///hours.md' });
      expect(contents).toMatchObject([{ text: '10 to 17' }]);
      await expect(client.readResource({ uri: 'house+file:///key.txt' })).rejects.toMatchObject({ code: -32602 });
      await expect(vitrine.read('house+file:///key.txt')).rejects.toMatchObject({ code: 'denied' });
    } finally {
      await client.close();
      await vitrine.close();
    }
    expect(await readFile(join(folder, 'audit.jsonl'), 'utf8')).toContain('house+file:///hours.md');
  },
);

it('takes references from the given environment, and reveals none of them', async () => {
  const file = await written('secret.yaml', `mounts:\n  far: { url: "http://127.0.0.1:9/\${PLACE}", start: lazy }\n`);
  const vitrine = createVitrine(await loadConfig(file, { env: { PLACE: 'a-secret-place' } }));
  expect(vitrine.hide?.('at a-secret-place')).toBe(`at \${PLACE}`);
  await vitrine.close();
  await expect(loadConfig(file, { env: {} })).rejects.toThrow(/PLACE/);
});

it('keeps texts of documents for later processes, if configured', async () => {
  await writeFile(join(folder, 'letter.eml'), 'Subject: Opening hours\n\n10 to 17\n');
  const keys = Buffer.alloc(32, 1).toString('base64');
  const file = await written('sharing.yaml', `mounts: { house: . }\nkeys: ['${keys}']\nanswers: { folder: ./cache }\n`);
  const texts = [];
  for (const _each of [1, 2]) {
    const vitrine = createVitrine(await loadConfig(file));
    const [item] = await vitrine.read('house+file:///letter.eml', { accept: ['text/markdown'] });
    texts.push(item && 'text' in item ? item.text : undefined);
    await vitrine.close();
    const names = await readdir(join(folder, 'cache'));
    expect(names.filter((name) => name.endsWith('.answer'))).toHaveLength(1);
  }
  expect(texts[0]).toContain('Opening hours');
  expect(texts[1]).toBe(texts[0]);
  expect(() => createVitrine({ mounts: {}, answers: { folder: join(folder, 'cache') } })).toThrow('need keys');
});

it('reports file, line and column of a mistake', async () => {
  const file = await written('broken.yaml', 'mounts:\n  house: { flies: . }\n');
  await expect(loadConfig(file)).rejects.toThrow(/^broken\.yaml:2:\d+: /);
});
