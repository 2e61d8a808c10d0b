/** Documents that try to exhaust resources: each ends as an error, and the next document is converted. */
import { deflateSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../../src/core/context.ts';
import type { ResourceProvider } from '../../src/core/provider.ts';
import { type Alternatives, createAlternatives } from '../../src/layers/alternatives/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { PROGRAM } from './program.ts';

const MIB = 1024 * 1024;
const OOXML = 'application/vnd.openxmlformats-officedocument.';
const DOCX = `${OOXML}wordprocessingml.document`;
const PPTX = `${OOXML}presentationml.presentation`;
const XLSX = `${OOXML}spreadsheetml.sheet`;
const ODT = 'application/vnd.oasis.opendocument.text';

/** In an archive, so many zeros take a thousandth of the room. */
const zeros = (bytes: number): Uint8Array => new Uint8Array(bytes);

const RELS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

function docx(body: string): Record<string, Uint8Array> {
  return {
    '[Content_Types].xml': strToU8(
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>',
    ),
    '_rels/.rels': strToU8(
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="${RELS}/officeDocument" Target="word/document.xml"/></Relationships>`,
    ),
    'word/document.xml': strToU8(
      `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
    ),
  };
}

/** The archive whose directory gives this size to each file of more than a mebibyte. */
function lying(archive: Uint8Array, size: number): Uint8Array {
  const copy = Buffer.from(archive);
  for (let at = copy.indexOf('PK\u0001\u0002'); at !== -1; at = copy.indexOf('PK\u0001\u0002', at + 4)) {
    if (copy.readUInt32LE(at + 24) > MIB) copy.writeUInt32LE(size, at + 24);
  }
  return copy;
}

/** A PDF of one page, with this content in compressed form. */
function pdf(content: Uint8Array): Uint8Array {
  const stream = deflateSync(content, { level: 1 });
  const objects = [
    Buffer.from('1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n'),
    Buffer.from('2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n'),
    Buffer.from('3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<<>>>>endobj\n'),
    Buffer.concat([
      Buffer.from(`4 0 obj<</Length ${stream.byteLength}/Filter/FlateDecode>>stream\n`),
      stream,
      Buffer.from('\nendstream endobj\n'),
    ]),
  ];
  const head = Buffer.from('%PDF-1.4\n');
  const places: number[] = [];
  let at = head.byteLength;
  for (const object of objects) {
    places.push(at);
    at += object.byteLength;
  }
  const table = `xref\n0 5\n0000000000 65535 f \n${places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')}`;
  return Buffer.concat([
    head,
    ...objects,
    Buffer.from(`${table}trailer<</Size 5/Root 1 0 R>>\nstartxref\n${at}\n%%EOF\n`),
  ]);
}

function xlsx(sheet: Uint8Array): Uint8Array {
  return zipSync({
    '[Content_Types].xml': strToU8(
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>',
    ),
    '_rels/.rels': strToU8(
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="${RELS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ),
    'xl/workbook.xml': strToU8(
      `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${RELS}"><sheets><sheet name="a" sheetId="1" r:id="b"/></sheets></workbook>`,
    ),
    'xl/_rels/workbook.xml.rels': strToU8(
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="b" Type="${RELS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    ),
    'xl/worksheets/sheet1.xml': sheet,
  });
}

const sheet = (rows: string): Uint8Array =>
  strToU8(
    `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${rows}</sheetData></worksheet>`,
  );

const cell = (at: string): string => `<c r="${at}"><v>1</v></c>`;

const ENTITIES = `<!DOCTYPE x [<!ENTITY a0 "ha">${Array.from({ length: 30 }, (_, n) => `<!ENTITY a${n + 1} "&a${n};&a${n};&a${n};&a${n};">`).join('')}]>`;

const entities = (): Uint8Array => {
  const { 'word/document.xml': document = new Uint8Array(), ...others } = docx(
    '<w:p><w:r><w:t>&a30;</w:t></w:r></w:p>',
  );
  return zipSync({ ...others, 'word/document.xml': Buffer.concat([strToU8(ENTITIES), document]) });
};

interface Bomb {
  readonly what: string;
  readonly type: string;
  readonly bytes: () => Uint8Array;
  /** The outcome; `text` if there is nothing to expand, and the text is small. */
  readonly ends: 'too-large' | 'unavailable' | 'text';
}

const BOMBS: readonly Bomb[] = [
  {
    what: 'an archive that unpacks to much more than it is',
    type: DOCX,
    bytes: () => zipSync({ ...docx(''), 'word/styles.xml': zeros(8 * MIB) }),
    ends: 'too-large',
  },
  {
    what: 'an archive whose directory says that it is small',
    type: DOCX,
    bytes: () => lying(zipSync({ ...docx(''), 'word/document.xml': zeros(8 * MIB) }), 1_000),
    ends: 'unavailable',
  },
  {
    what: 'an archive whose directory says that it has gigabytes',
    type: PPTX,
    bytes: () => lying(zipSync({ 'ppt/presentation.xml': zeros(2 * MIB) }), 0xfffffff0),
    ends: 'too-large',
  },
  {
    what: 'archives within an archive',
    type: PPTX,
    bytes: () => zipSync({ 'ppt/media/a.zip': zipSync({ 'b.zip': zipSync({ c: zeros(8 * MIB) }) }) }),
    ends: 'unavailable',
  },
  {
    what: 'an archive of very many files',
    type: ODT,
    bytes: () => zipSync(Object.fromEntries(Array.from({ length: 21_000 }, (_, n) => [`f${n}`, new Uint8Array()]))),
    ends: 'too-large',
  },
  {
    what: 'a page with a stream of hundreds of megabytes',
    type: 'application/pdf',
    bytes: () => pdf(Buffer.concat(Array.from({ length: 320 }, () => zeros(MIB).fill(0x20)))),
    ends: 'too-large',
  },
  { what: 'entities within entities', type: DOCX, bytes: entities, ends: 'unavailable' },
  {
    what: 'HTML elements within elements',
    type: 'text/html',
    bytes: () => strToU8('<div>'.repeat(200_000)),
    ends: 'unavailable',
  },
  {
    what: 'XML elements within elements',
    type: ODT,
    bytes: () => zipSync({ 'content.xml': strToU8(`${'<a>'.repeat(200_000)}${'</a>'.repeat(200_000)}`) }),
    ends: 'too-large',
  },
  {
    what: 'a sheet of very many rows',
    type: XLSX,
    bytes: () =>
      xlsx(sheet(Array.from({ length: 60_000 }, (_, n) => `<row r="${n + 1}">${cell(`A${n + 1}`)}</row>`).join(''))),
    ends: 'too-large',
  },
  {
    what: 'a sheet with a cell at its far end',
    type: XLSX,
    bytes: () => xlsx(sheet(`<row r="1">${cell('A1')}</row><row r="1048576">${cell('XFD1048576')}</row>`)),
    ends: 'unavailable',
  },
  {
    what: 'a notebook of megabytes',
    type: 'application/x-ipynb+json',
    bytes: () => strToU8(JSON.stringify({ cells: [{ cell_type: 'markdown', source: 'x'.repeat(MIB) }], metadata: {} })),
    ends: 'too-large',
  },
  {
    what: 'a notebook of lists in lists',
    type: 'application/x-ipynb+json',
    bytes: () => strToU8(`{"cells":${'['.repeat(500_000)}${']'.repeat(500_000)}}`),
    ends: 'text',
  },
  {
    what: 'RTF groups within groups',
    type: 'application/rtf',
    bytes: () => strToU8(`{\\rtf1 ${'{'.repeat(1_000_000)}`),
    ends: 'unavailable',
  },
  {
    what: 'parts of a mail within parts',
    type: 'message/rfc822',
    bytes: () =>
      strToU8(
        Array.from(
          { length: 5_000 },
          (_, n) => `Content-Type: multipart/mixed; boundary="b${n}"\r\n\r\n--b${n}\r\n`,
        ).join(''),
      ),
    ends: 'unavailable',
  },
];

describe('a bomb ends as an error of the format or as a small text, and the server goes on [SEC-RES-3, RES-7]', () => {
  let alternatives: Alternatives;
  const serve = (type: string, bytes: Uint8Array): ResourceProvider =>
    alternatives.layer(memoryProvider({ resources: { bomb: { bytes, mimeType: type } } }));

  beforeAll(() => {
    alternatives = createAlternatives(
      { maxOutputBytes: MIB / 4, maxUnpackedBytes: 4 * MIB, maxMemoryBytes: 256 * MIB, timeoutMs: 15_000 },
      { program: PROGRAM },
    );
  });
  afterAll(() => alternatives.close());

  const read = async (provider: ResourceProvider, uri: string, accept?: readonly string[]) =>
    provider.read(uri, { maxBytes: 100 * MIB, maxChildren: 0, accept }, createContext());

  it.each(BOMBS)('$what', async ({ type, bytes, ends }) => {
    const provider = serve(type, bytes());
    const outcome = await read(provider, 'memory:///bomb', ['text/markdown']).then(
      ([body]) => (body?.content.kind === 'bytes' && body.content.bytes.byteLength < MIB ? 'text' : 'much'),
      (error: { readonly code?: string }) => error.code,
    );
    // On a busy machine, a process may exceed its time before it exceeds its memory.
    if (ends === 'too-large') expect(['too-large', 'timeout']).toContain(outcome);
    else expect(outcome).toBe(ends);
    // Without a requested format, the original is given.
    const bodies = await read(provider, 'memory:///bomb');
    expect(bodies[0]?.resource.mimeType).toBe(type);
    const note = serve('application/rtf', strToU8('{\\rtf1 All is well}'));
    const [text] = await read(note, 'memory:///bomb', ['text/markdown']);
    expect(text?.content.kind === 'bytes' && Buffer.from(text.content.bytes).toString()).toBe('All is well\n\n');
  });
});
