/** Other formats of documents, as clients see them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ACCEPT_META_KEY, FORMATS_META_KEY, RANGE_META_KEY, WINDOW_META_KEY } from '../../src/protocol/meta.ts';
import { bytesOf, drain, failure, metadata, type ReadAnswer, read } from '../e2e/answers.ts';
import { type Connected, connect, DIAGONAL, MUSEUM } from '../e2e/harness.ts';

const OFFICE = `${MUSEUM}/office`;
const MARKDOWN = 'text/markdown';
const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

interface ToolAnswer {
  readonly content: readonly { readonly type: string; readonly text?: string; readonly resource?: { text?: string } }[];
  readonly isError?: boolean;
}

async function readAs(server: Connected, name: string, accept: readonly string[], others: object = {}) {
  const _meta = { [ACCEPT_META_KEY]: accept, ...others };
  return (await server.request<ReadAnswer>('resources/read', { uri: `file:///${name}`, _meta })).contents;
}

async function call(server: Connected, name: string, args: object): Promise<string> {
  const { content } = await server.request<ToolAnswer>('tools/call', { name, arguments: { ...args } });
  return content.map((block) => block.text ?? block.resource?.text ?? `(${block.type})`).join('\n');
}

const typesOf = (contents: ReadAnswer['contents']) => contents.map(({ mimeType }) => mimeType);

describe.each(DIAGONAL)('documents over $transport, $era', ({ transport, era }) => {
  let office: Connected;
  beforeAll(async () => {
    office = await connect(transport, era, [OFFICE, '--icons', 'on']);
  });
  afterAll(() => office.close());

  it('name their formats in lists and metadata, without a read [2093-8]', async () => {
    const listed = await drain(office, 'resources/list');
    const byName = new Map(listed.map((resource) => [resource.name, resource]));
    const formatsOf = (name: string): unknown => byName.get(name)?._meta?.[FORMATS_META_KEY];
    expect(formatsOf('loan-agreement.docx')).toEqual([
      { mimeType: DOCX, size: expect.any(Number) },
      { mimeType: MARKDOWN },
    ]);
    expect(formatsOf('visitors.xlsx')).toMatchObject([{}, { mimeType: MARKDOWN }, { mimeType: 'application/json' }]);
    expect(formatsOf('README.md')).toBeUndefined();
    expect(await metadata(office, 'file:///loan-agreement.docx')).toEqual(byName.get('loan-agreement.docx'));
  });

  it('are read as the original and as text, under one URI, the original first [2093-6]', async () => {
    const listed = await drain(office, 'resources/list');
    const documents = listed.filter(({ _meta }) => _meta?.[FORMATS_META_KEY] !== undefined);
    expect(documents).toHaveLength(11);
    for (const { uri, name, mimeType } of documents) {
      const answer = await read(office, uri);
      expect(typesOf(answer), name).toEqual([mimeType, MARKDOWN]);
      for (const item of answer) {
        expect(item).toMatchObject({ uri, name, size: bytesOf(item).byteLength });
      }
      expect(answer[1]?.text?.length).toBeGreaterThan(50);
    }
  });

  it('are read in the requested format, whole and in windows [2093-6]', async () => {
    expect(typesOf(await readAs(office, 'visitors.xlsx', [DOCX, 'application/*']))).toEqual([
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    ]);
    const [json] = await readAs(office, 'visitors.xlsx', ['application/json']);
    expect(JSON.parse(json?.text ?? '').sheets[0].name).toBe('Visitors');
    const [whole] = await readAs(office, 'conservation-report.pdf', [MARKDOWN]);
    let text = '';
    for (let offset = 0; offset < (whole?.size ?? 0); offset = Buffer.byteLength(text)) {
      const range = { [RANGE_META_KEY]: { offset, length: 100 } };
      const [part] = await readAs(office, 'conservation-report.pdf', [MARKDOWN], range);
      expect(part?._meta?.[WINDOW_META_KEY]).toMatchObject({ offset, total: whole?.size });
      expect(part?.text).not.toBe('');
      text += part?.text;
    }
    expect(text).toBe(whole?.text);
  });

  it('can be read by lines, which are lines of their text format', async () => {
    const contents = await read(office, 'file:///conservation-report.pdf#L3');
    expect(contents).toMatchObject([{ mimeType: MARKDOWN, text: '# Conservation report\n' }]);
  });

  it('are text for clients that only call tools, unless these request something else [CB-3]', async () => {
    const uri = 'file:///loan-agreement.docx';
    expect(await call(office, 'describe', { uri })).toContain('can also be read as: text/markdown');
    const text = await call(office, 'read', { uri });
    expect(text).toContain('The museum lends the **brass carriage clock**');
    expect(text).not.toContain('(resource)');
    expect(await call(office, 'read', { uri, as: 'plain' })).toMatch(/^# Loan agreement\n/);
    expect(await call(office, 'read_embedded', { uri })).toContain('# Loan agreement');
    expect(await call(office, 'read', { uri, format: DOCX })).toMatch(/wordprocessingml.*\n\(resource\)$/);
    expect(await call(office, 'read', { uri: 'file:///visitors.xlsx', format: 'application/json' })).toContain(
      '{"sheets":[',
    );
    const part = await call(office, 'read', { uri, format: MARKDOWN, max_bytes: 16 });
    expect(part).toContain(
      'Next window: read {"uri":"file:///loan-agreement.docx","as":"window","format":"text/markdown"',
    );
  });
});

describe('documents', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitrine-forms-'));
    await writeFile(join(folder, 'note.rtf'), '{\\rtf1 The token is ghp_1234567890abcdefghijklmnopqrstuvwxyz}');
    await writeFile(join(folder, 'bomb.odt'), zipSync({ 'content.xml': strToU8('<a>'.repeat(100_000)) }));
    const config = (name: string, lines: string) =>
      writeFile(join(folder, name), `mounts: { docs: { path: ., prefix: none${lines}`);
    await config('off.yaml', ' } }\nforms: off\n');
    await config('mount-off.yaml', ', forms: off } }\n');
    await config('except.yaml', ' } }\nforms: { except: [application/rtf] }\n');
    await config('redact.yaml', ' } }\nredact: on\n');
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each(['off.yaml', 'mount-off.yaml', 'except.yaml'])(
    'have only one format if the configuration says so: %s',
    async (name) => {
      await using server = await connect('stdio', 'modern', ['--config', join(folder, name)]);
      expect(await metadata(server, 'file:///note.rtf')).not.toHaveProperty('_meta');
      expect(typesOf(await read(server, 'file:///note.rtf'))).toEqual(['application/rtf']);
      expect(typesOf(await readAs(server, 'note.rtf', [MARKDOWN]))).toEqual(['application/rtf']);
    },
  );

  it('have their secrets covered in every format', async () => {
    await using server = await connect('http', 'modern', ['--config', join(folder, 'redact.yaml')]);
    for (const answer of [await read(server, 'file:///note.rtf'), await readAs(server, 'note.rtf', [MARKDOWN])]) {
      for (const item of answer) expect(item.text).toMatch(/The token is \[redacted: github-token\]/);
    }
  });

  it('that are bombs are errors, and the server goes on [SEC-RES-3]', async () => {
    await using server = await connect('http', 'modern', [folder]);
    const error = await failure(readAs(server, 'bomb.odt', [MARKDOWN]));
    expect(error.message).toMatch(/text\/markdown cannot be made/);
    expect(typesOf(await read(server, 'file:///bomb.odt'))).toEqual(['application/vnd.oasis.opendocument.text']);
    expect(typesOf(await read(server, 'file:///note.rtf'))).toEqual(['application/rtf', MARKDOWN]);
  });
});
