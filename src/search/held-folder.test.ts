import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../test/e2e/folders.ts';
import { memoryEngine } from '../../test/tools/engine.ts';
import { SILENT } from '../core/context.ts';
import { createIndex } from './index.ts';

it('logs once that another server uses the folder', async () => {
  await using folder = await temporaryFolder({});
  const said: unknown[] = [];
  const log = { ...SILENT, warn: (_: string, facts?: { readonly reason?: unknown }) => void said.push(facts?.reason) };
  const first = memoryEngine({ 'a.md': { text: 'The brass clock' } }, { index: createIndex({ folder: folder.path }) });
  await first.vitrine.ranked?.settled();
  await using second = memoryEngine(
    { 'a.md': { text: 'The brass clock' } },
    { index: createIndex({ folder: folder.path, log }) },
  );
  await expect.poll(() => said.length, { timeout: 10_000 }).toBe(1);
  await pause(5_000);
  expect(said).toEqual(['another server has its folder']);
  await expect.poll(() => second.vitrine.ranked?.state().reason).toBe('another server has its folder');
  await first[Symbol.asyncDispose]();
  await expect.poll(() => second.vitrine.ranked?.state().state, { timeout: 10_000 }).toBe('ready');
  expect(said).toHaveLength(1);
});
