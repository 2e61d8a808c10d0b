/** Ranked search of a running server: the museum answers questions in words with places that can be read. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseUriTemplate } from '../../src/core/uri-template.ts';
import type { CallToolResult } from '../../src/protocol/content.ts';
import type { ResourceContents } from '../../src/protocol/resources.ts';
import { embeddedIn, structured, textOf } from '../tools/engine.ts';
import { metadata } from './answers.ts';
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
    folder = await temporaryFolder({
      'notes/today.md': '# Today\n\nNothing yet.\n',
      'notes/how-we-wind.md': '# Winding\n',
      'prompts/show.md': '---\narguments: [{ name: note }]\n---\n{{resource notes+file:///{note}.md}}\n',
    });
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
        prompts: './prompts',
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

  it('finds how the carriage clock is wound', async () => {
    const question = { pattern: 'how is the carriage clock wound' };
    await expect
      .poll(async () => (await found(question))[0], { timeout: 30_000 })
      .toMatchObject({
        uri: 'museum+file:///collection/clocks/winding.toml',
      });
  });

  it('finds the sheet of a workbook, which can be read [CB-7]', async () => {
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

  it('finds edited text, and no removed resources', async () => {
    const question = { pattern: 'barometer in:notes+file:///', mode: 'ranked' };
    await writeFile(join(folder.path, 'notes/today.md'), '# Today\n\nThe barometer fell.\n');
    await expect
      .poll(() => found(question))
      .toMatchObject([{ uri: 'notes+file:///today.md', heading: 'Today', line: 3 }]);
    await writeFile(join(folder.path, 'notes/today.md'), '# Today\n\nIt rains.\n');
    await expect.poll(() => found(question)).toEqual([]);
  });

  const completed = async (ref: object, name: string, value: string): Promise<object> => {
    const params = { ref, argument: { name, value } };
    return (await museum.request<{ completion: object }>('completion/complete', params)).completion;
  };

  it.each([
    ['carriage', ['collection/clocks/carriage-clock.png']],
    ['cafe clo', ['collection/naïve café clock – №7.md']],
    ['collection/esca', ['collection/clocks/escapement.svg']],
    ['clocks', ['collection/clocks/']],
  ])('completes %s by words of names, and the values can be read [RES-3]', async (typed, values) => {
    const ref = { type: 'ref/resource', uri: 'museum+file:///{+path}' };
    await expect.poll(() => completed(ref, 'path', typed), { timeout: 30_000 }).toEqual({ values, hasMore: false });
    const uri = parseUriTemplate(ref.uri).expand({ path: values[0] ?? '' });
    expect(await metadata(museum, uri)).toMatchObject({ name: values[0]?.split('/').findLast((name) => name !== '') });
  });

  it('completes an argument of a prompt that names a resource by words of names, too [SEC-UTIL-5]', async () => {
    const ref = { type: 'ref/prompt', name: 'show' };
    await expect
      .poll(() => completed(ref, 'note', 'win'), { timeout: 30_000 })
      .toMatchObject({ values: ['how-we-wind'], hasMore: false });
  });

  it('reports why a question is invalid', async () => {
    expect(textOf(await search({ pattern: '"clock', mode: 'ranked' }))).toMatch(/phrase/);
  });
});
