import { expect, it } from 'vitest';
import { temporaryFolder } from '../../test/e2e/folders.ts';
import { memoryEngine, structured, textOf } from '../../test/tools/engine.ts';
import { createIndex } from './index.ts';

it('ranked search finds each of many changes, even those that come while the index records another one', async () => {
  await using folder = await temporaryFolder({});
  const index = createIndex({ folder: folder.path, rescanSeconds: 3_600 });
  await using engine = memoryEngine({ 'a.md': { text: 'first' } }, { index });
  await engine.vitrine.ranked?.settled();
  const find = async (pattern: string): Promise<number> => {
    const result = await engine.call('search', { pattern, mode: 'ranked' });
    if (result.isError) throw new Error(textOf(result));
    return structured<{ matches: readonly unknown[] }>(result).matches.length;
  };
  for (let at = 0; at < 30; at++) {
    engine.memory.set('a.md', { text: `word${at}` });
    await expect.poll(() => find(`word${at}`), { interval: 1, timeout: 20_000 }).toBe(1);
  }
});
