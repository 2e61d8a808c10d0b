/** Text that is not UTF-8: its original bytes, and beside them readable text. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createResourceClient, type ResourceClient } from '../../src/client/index.ts';
import { createVitrine, serveHttp, type Vitrine } from '../../src/index.ts';
import { filesProvider } from '../../src/providers/files/index.ts';
import { eraOf } from '../client/scripted.ts';
import { ERAS } from './harness.ts';

const LONG = 'é'.repeat(50_000);
const FILES: Readonly<Record<string, Buffer>> = {
  'latin.txt': Buffer.from('caf\u00e9 \u0080 na\u00efve\n', 'latin1'),
  'end.txt': Buffer.from('caf\u00e9', 'latin1'),
  'utf-16.txt': Buffer.from('\ufeffcaf\u00e9\n', 'utf16le'),
  'table.csv': Buffer.from('a;caf\u00e9\n', 'latin1'),
  'page.xml': Buffer.concat([
    Buffer.from('<?xml version="1.0" encoding="iso-8859-2"?><a>'),
    Buffer.from([0xb1, 0xe6]),
    Buffer.from('</a>'),
  ]),
  'long.txt': Buffer.from(LONG, 'latin1'),
  'secret.txt': Buffer.from('caf\u00e9 AKIA2E0A8F3B244C9986\n', 'latin1'),
  'good.txt': Buffer.from('caf\u00e9\n'),
  'data.bin': Buffer.from([1, 0, 0xe9]),
};

let root: string;
let vitrine: Vitrine;
let serving: Awaited<ReturnType<typeof serveHttp>>;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'vitrine-encodings-'));
  for (const [name, bytes] of Object.entries(FILES)) await writeFile(join(root, name), bytes);
  const provider = await filesProvider({ path: root });
  vitrine = createVitrine({ mounts: [{ name: 'docs', provider, prefix: 'none' }], redact: {}, forms: {} });
  serving = await serveHttp(vitrine, { port: 0 });
});
afterAll(async () => {
  await serving.close();
  await vitrine.close();
  await rm(root, { recursive: true, force: true });
});

describe.each(ERAS)('text in another encoding, in the %s era', (era) => {
  const withClient = async <T>(work: (client: ResourceClient) => Promise<T>): Promise<T> => {
    await using client = createResourceClient({ url: serving.url, ...eraOf[era] });
    return await work(client);
  };
  const read = (name: string, accept?: string) => withClient((client) => client.read(`file:///${name}`, { accept }));

  it.each([
    ['latin.txt', 'text/plain', 'unknown-8bit', 'caf\u00e9 \u20ac na\u00efve\n'],
    ['end.txt', 'text/plain', 'unknown-8bit', 'caf\u00e9'],
    ['utf-16.txt', 'text/plain', 'utf-16le', 'caf\u00e9\n'],
    ['table.csv', 'text/csv', 'unknown-8bit', 'a;caf\u00e9\n'],
    ['page.xml', 'application/xml', 'unknown-8bit', '<?xml version="1.0" encoding="iso-8859-2"?><a>\u0105\u0107</a>'],
  ])('%s is given unchanged and in UTF-8 [2093-6] [2093-8]', async (name, mimeType, charset, text) => {
    const { alternatives } = await read(name);
    const [original, other] = alternatives;
    expect(original?.contents).toMatchObject({
      mimeType,
      blob: FILES[name]?.toString('base64'),
      _meta: { 'vitrine/charset': charset },
    });
    expect(other?.contents).toMatchObject({ mimeType: `${mimeType};charset=utf-8`, text });
    expect(other?.contents._meta).not.toHaveProperty('vitrine/charset');
    for (const accept of [mimeType, '*/*', `${mimeType};charset=utf-8`]) {
      expect((await read(name, accept)).primary?.text()).toBe(text);
    }
  });

  it('is given in windows of the text if that is requested', async () => {
    const options = { accept: 'text/plain;charset=utf-8' };
    const { primary } = await withClient((client) =>
      client.read('file:///long.txt', { ...options, range: { offset: 99_998, length: 2 } }),
    );
    expect(primary?.text()).toBe('é');
    expect(primary?.window).toMatchObject({ offset: 99_998, total: 100_000 });
  });

  it('has its secrets covered in the original and in UTF-8', async () => {
    const { alternatives } = await read('secret.txt');
    expect(alternatives).toHaveLength(2);
    for (const { contents } of alternatives) {
      const { text, blob = '' } = contents as { text?: string; blob?: string };
      expect(text ?? Buffer.from(blob, 'base64').toString('latin1')).not.toContain('AKIA2E0A8F3B244C9986');
    }
  });

  it.each(['good.txt', 'data.bin'])('%s has only one format, and no charset', async (name) => {
    const { alternatives, primary } = await read(name);
    expect(alternatives).toEqual([primary]);
    expect(primary?.resource._meta ?? {}).not.toHaveProperty('vitrine/charset');
  });
});
