import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MAX_FINDINGS, verifyAudit } from './verify.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-audit-verify-'));
});
afterAll(() => rm(folder, { recursive: true }));

it.each([
  ['empty files', '', MAX_FINDINGS + 1],
  ['lines that are not of an audit', 'no line\n'.repeat(MAX_FINDINGS + 1), 1],
])(`keeps at most ${MAX_FINDINGS} findings about %s`, async (name, content, count) => {
  const files = Array.from({ length: count }, (_, index) => join(folder, `${name} ${index}`));
  const empty = join(folder, `${name}, at last`);
  await Promise.all([...files.map((file) => writeFile(file, content)), writeFile(empty, '')]);
  const { findings } = await verifyAudit([...files, empty], { head: '0'.repeat(64) });
  expect(findings).toHaveLength(MAX_FINDINGS);
});
