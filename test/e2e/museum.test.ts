/** `npm start` serves files, a database, a repository's history, documents and the output of a program, in one tree. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Connected, connect, DIAGONAL, MUSEUM_CONFIG } from './harness.ts';

interface Contents {
  readonly contents: readonly { readonly uri: string; readonly mimeType: string; readonly text?: string }[];
}

describe.each(DIAGONAL)('the museum over $transport, $era', ({ transport, era }) => {
  let museum: Connected;
  beforeAll(async () => {
    museum = await connect(transport, era, [MUSEUM_CONFIG]);
  });
  afterAll(() => museum.close());

  const read = (uri: string, accept?: readonly string[]): Promise<Contents> =>
    museum.request<Contents>('resources/read', {
      uri,
      ...(accept !== undefined && { _meta: { 'vitrine/accept': accept } }),
    });
  const text = async (uri: string, accept?: readonly string[]): Promise<string> =>
    (await read(uri, accept)).contents.map((each) => each.text ?? '').join('\n');

  it('has a branch for each kind of data [RES-5]', async () => {
    const { resources } = await museum.request<{ resources: readonly { uri: string }[] }>('resources/list');
    const uris = resources.map(({ uri }) => uri);
    for (const root of ['museum+file:///', 'registrar+sqlite:///', 'restoration+git:///']) expect(uris).toContain(root);
    for (const below of ['museum+file:///office', 'registrar+sqlite:///objects', 'restoration+git:///HEAD'])
      expect(uris).toContain(below);
  });

  it('has rows with the same facts as the files [RES-5]', async () => {
    const row = JSON.parse(await text('registrar+sqlite:///objects/VM.1931.001', ['application/json']));
    expect(JSON.stringify(row)).toContain('Carriage clock with travelling case');
    expect(await text('museum+file:///collection/inventory.csv')).toContain('Carriage clock with travelling case');
  });

  it('has the notebook at a tag, and at an unmerged branch [RES-5]', async () => {
    const at = (revision: string) => `restoration+git:///${revision}/VM.1931.001/treatment.md`;
    expect(await text(at('tags/on-show-2025'))).toContain('- [x] Take the platform escapement off');
    expect(await text(at('branches/try~2Fshorter-spring'))).toContain('- [ ] Take the platform escapement off');
  });

  it('has documents as text [RES-5]', async () => {
    const [original, markdown] = (await read('museum+file:///office/loan-agreement.docx')).contents;
    expect(original?.mimeType).toContain('wordprocessingml');
    expect(markdown).toMatchObject({ mimeType: 'text/markdown', text: expect.stringContaining('loan') });
  });
});
