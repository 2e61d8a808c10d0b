/** Ranked search of a running server: the museum answers questions in words, with places that read back. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallToolResult } from '../../src/protocol/content.ts';
import type { ResourceContents } from '../../src/protocol/resources.ts';
import { embeddedIn, structured, textOf } from '../tools/engine.ts';
import { type Folder, temporaryFolder } from './folders.ts';
import { type Connected, connect, DIAGONAL, ROOT } from './harness.ts';

interface Found {
  readonly uri: string;
  readonly line?: number;
  readonly heading?: string;
  readonly mimeType?: string;
}

describe.each(DIAGONAL)('ranked search over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let museum: Connected;
  beforeAll(async () => {
    folder = await temporaryFolder({ 'notes/today.md': '# Today\n\nNothing yet.\n' });
    const config = join(folder.path, 'vitrine.yaml');
    await writeFile(
      config,
      JSON.stringify({
        index: { folder: 'index' },
        mounts: {
          museum: join(ROOT, 'examples/museum'),
          registrar: join(ROOT, 'examples/registrar.sqlite'),
          notes: './notes',
        },
      }),
    );
    museum = await connect(transport, era, ['--config', config]);
  });
  afterAll(async () => {
    await museum.close();
    await folder[Symbol.asyncDispose]();
  });

  const search = async (args: Record<string, unknown>): Promise<CallToolResult> =>
    (await museum.client.callTool({ name: 'search', arguments: args })) as unknown as CallToolResult;
  const found = async (args: Record<string, unknown>): Promise<readonly Found[]> => {
    const result = await search(args);
    return result.isError ? [] : structured<{ matches: readonly Found[] }>(result).matches;
  };

  it('answers how the carriage clock is wound', async () => {
    const question = { pattern: 'how is the carriage clock wound' };
    await expect
      .poll(async () => (await found(question))[0], { timeout: 30_000 })
      .toMatchObject({
        uri: 'museum+file:///collection/clocks/winding.toml',
      });
  });

  it('answers with the sheet of a workbook, which reads back [CB-7]', async () => {
    const best = { uri: 'museum+file:///office/visitors.xlsx', heading: 'Visitors by season' };
    await expect
      .poll(async () => (await found({ pattern: 'visitors in spring' }))[0], { timeout: 30_000 })
      .toMatchObject(best);
    const result = await search({ pattern: 'visitors in spring type:spreadsheet', mode: 'ranked' });
    const [sheet] = embeddedIn(result);
    expect(sheet && 'text' in sheet ? sheet.text : '').toContain('| Spring 2025 | April to June | 1874 | 603 |');
    for (const match of embeddedIn(result)) {
      const { contents } = await museum.request<{ contents: ResourceContents[] }>('resources/read', { uri: match.uri });
      const [item] = contents;
      expect(item && 'text' in item ? item.text.replace(/\r?\n$/, '') : '').toBe(
        'text' in match ? match.text : undefined,
      );
    }
  });

  it('finds an edit, and forgets what is gone', async () => {
    const question = { pattern: 'barometer in:notes+file:///', mode: 'ranked' };
    await writeFile(join(folder.path, 'notes/today.md'), '# Today\n\nThe barometer fell.\n');
    await expect
      .poll(() => found(question))
      .toMatchObject([{ uri: 'notes+file:///today.md', heading: 'Today', line: 3 }]);
    await writeFile(join(folder.path, 'notes/today.md'), '# Today\n\nIt rains.\n');
    await expect.poll(() => found(question)).toEqual([]);
  });

  it('says what is wrong with a question', async () => {
    expect(textOf(await search({ pattern: '"clock', mode: 'ranked' }))).toMatch(/phrase/);
  });
});
