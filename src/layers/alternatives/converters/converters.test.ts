/** Runs every converter on documents of real programs (those of the museum), and on odd ones that the tests make. */
import { readFile } from 'node:fs/promises';
import { strToU8, zipSync } from 'fflate';
import { getDocumentProxy } from 'unpdf';
import { describe, expect, it, vi } from 'vitest';
import { CONVERTERS } from './index.ts';

const OFFICE = new URL('../../../../examples/museum/office/', import.meta.url);
const LIMITS = { maxOutputBytes: 1_000_000, maxUnpackedBytes: 10_000_000 };
const MARKDOWN = 'text/markdown';

async function convert(bytes: Uint8Array, from: string, to: string = MARKDOWN, limits = LIMITS): Promise<string> {
  const converter = CONVERTERS.find((each) => each.from.includes(from) && each.to.includes(to));
  if (converter === undefined) throw new Error(`Nothing converts ${from} to ${to}`);
  return String(await converter.convert(bytes, { from, to, ...limits }));
}

const convertFile = async (name: string, from: string, to?: string): Promise<string> =>
  convert(new Uint8Array(await readFile(new URL(name, OFFICE))), from, to);

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const OOXML = 'application/vnd.openxmlformats-officedocument.';
const ODF = 'application/vnd.oasis.opendocument.';

/** A repeated row of a table in OpenDocument, with one repeated cell. */
const row = (text: string, rows: number | string = 1, columns: number | string = 1): string =>
  `<table:table-row table:number-rows-repeated="${rows}"><table:table-cell table:number-columns-repeated="${columns}"><text:p>${text}</text:p></table:table-cell></table:table-row>`;

/** A document in OpenDocument with one table. */
function tableOf(rows: string): Uint8Array {
  const names = ['office', 'text', 'table'].map(
    (name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
  );
  const content = `<office:document-content ${names.join(' ')}><office:body><table:table>${rows}</table:table></office:body></office:document-content>`;
  return zipSync({ 'content.xml': strToU8(content) });
}

/** The sheet that only the Excel workbook has. */
const SEASONS = `
## Visitors by season

| Season | Months | Adults | Children |
| --- | --- | --- | --- |
| Spring 2025 | April to June | 1874 | 603 |
| Summer 2025 | July to September | 2619 | 933 |
| Autumn 2025 | October to December | 2671 | 1049 |
`;

describe('documents of the museum as Markdown [2093-6]', () => {
  it('PDF: pages, headings by size, paragraphs', async () => {
    expect(await convertFile('conservation-report.pdf', 'application/pdf')).toBe(`<!-- page 1 -->

# Conservation report

## Condition

The adding machine has a hairline crack in its left key bank.
It was stabilised with wheat-starch paste in March.

The case is of walnut, and sound.

<!-- page 2 -->

## Recommendations

Show it at no more than 50 lux, for three months a year.
`);
  });

  it('Word: headings, emphasis, lists, tables, links', async () => {
    const text = await convertFile('loan-agreement.docx', `${OOXML}wordprocessingml.document`);
    expect(text).toMatch(/^# Loan agreement\n/);
    expect(text).toContain('The museum lends the **brass carriage clock** to');
    expect(text).toMatch(/\n- +Between 18 and 22 degrees\n/);
    expect(text).toContain('| Piece | Value |\n| --- | --- |\n| Carriage clock, VM.1931.007 | 1,200 |');
    expect(text).toContain('[the loans office](https://museum.example/loans)');
  });

  it('PowerPoint: slides in their order, titles, lists, tables, notes', async () => {
    const text = await convertFile('wound-by-hand.pptx', `${OOXML}presentationml.presentation`);
    expect(text).toMatch(/^## Slide 1: Wound by Hand\n\n- Opens on a Tuesday\n- Everything in it/);
    expect(text).toContain('> Welcome everybody, then hand over to the curator.');
    expect(text).toMatch(/## Slide 2: Rooms\n\s+\| Room \| Theme \|\n\| --- \| --- \|\n\| 1 \| Clocks \|/);
  });

  it.each([
    ['Excel', 'visitors.xlsx', `${OOXML}spreadsheetml.sheet`],
    ['OpenDocument', 'visitors.ods', `${ODF}spreadsheet`],
  ])('%s sheets: tables, and rows in JSON', async (_what, name, type) => {
    expect(await convertFile(name, type)).toBe(`## Visitors

| Month | Adults | Children | Revenue |
| --- | --- | --- | --- |
| October | 812 | 240 | 9744.5 |
| November | 655 | 198 | 7860 |
| December | 1204 | 611 | 14448.25 |

## Opening

| Day | Open | Since |
| --- | --- | --- |
| Monday | false | 2024-05-06 |
| Tuesday | true | 2021-01-05 |
${name.endsWith('.ods') ? '' : SEASONS}`);
    const { sheets } = JSON.parse(await convertFile(name, type, 'application/json'));
    expect(sheets.map((sheet: { name: string }) => sheet.name)).toEqual([
      'Visitors',
      'Opening',
      ...(name.endsWith('.ods') ? [] : ['Visitors by season']),
    ]);
    expect(sheets[0].rows[1]).toEqual(['October', 812, 240, 9744.5]);
    expect(sheets[1].rows[1]).toEqual(['Monday', false, '2024-05-06T00:00:00.000Z']);
  });

  it('OpenDocument texts and slides', async () => {
    expect(await convertFile('press-release.odt', `${ODF}text`)).toBe(`# Press release

The museum shows its machines as they are used: clocks, calculators & typewriters.

## Dates

- Preview on 28 November
- Opening on 1 December
  - with music

| Ticket | Price |
| --- | --- |
| Adults | 12 |

More at [the press office](https://museum.example/press).

`);
    expect(await convertFile('tour.odp', `${ODF}presentation`)).toContain(
      '## Slide 1: A tour of the repair shop\n\n- Meet at the east door\n- Bring a coat\n\n> Count the visitors twice.',
    );
  });

  it('OpenDocument tables with every repeated row, however often it is repeated', async () => {
    expect(await convert(tableOf(`${row('a')}${row('b', 3)}${row('', 2)}${row('c', 1)}`), `${ODF}text`)).toBe(
      '| a |\n| --- |\n| b |\n| b |\n| b |\n|  |\n|  |\n| c |\n\n',
    );
    const many = await convert(tableOf(row('b', 5_000)), `${ODF}presentation`);
    expect(many.match(/\| b \|/g)).toHaveLength(5_000);
  });

  it('OpenDocument tables without the empty rows that only fill them', async () => {
    const filled = tableOf(`${row('a')}${row('', 1_048_574)}${row('', '1e999')}`);
    expect(await convert(filled, `${ODF}text`)).toBe('| a |\n| --- |\n\n');
  });

  it.each(['0', '-5', 'many', '', '1.5', 'NaN'])(
    'OpenDocument rows and cells once, if repeated %j times',
    async (times) => {
      expect(await convert(tableOf(row('a', times, times)), `${ODF}text`)).toBe('| a |\n| --- |\n\n');
    },
  );

  it.each([1_000_001, '1e999', '9'.repeat(400)])('no OpenDocument table with %s rows', async (times) => {
    await expect(convert(tableOf(row('a', times)), `${ODF}text`)).rejects.toMatchObject({ code: 'too-large' });
  });

  it('EPUB: chapters in reading order, which is not the order in the archive', async () => {
    const text = await convertFile('a-short-history.epub', 'application/epub+zip');
    expect(text.match(/^#.*$/gm)).toEqual([
      '# A short history of the museum',
      '## The unclaimed clocks',
      '## The fire',
    ]);
    expect(text.match(/The unclaimed clocks/g)).toHaveLength(1);
  });

  it('notebooks: text, code in its language, and output', async () => {
    const text = await convertFile('footfall.ipynb', 'application/x-ipynb+json');
    expect(text).toContain('# Footfall\n\nHow many people came, by month.\n\n```python\ntotal = 812');
    expect(text).toContain('```text\n2671\n```');
    expect(text).toContain('(An image, image/png)');
    expect(text).not.toContain('iVBOR');
  });

  it('e-mail: sender, recipients, date, subject, text, attachments', async () => {
    const text = await convertFile('re-the-clock.eml', 'message/rfc822');
    expect(text).toMatch(/^# Re: The clock – transport\n\n- From: Curator \(curator@museum\.example\)\n/);
    expect(text).toContain('(60 × 60 × 80 cm)');
    expect(text).toContain('- crates.csv (text/csv, 18 bytes)');
  });
});

describe('HTML', () => {
  it('becomes its whole text, without scripts, styles, and links that run code', async () => {
    const page = `<!doctype html><title>Hours &amp; prices</title><style>p{}</style><nav>Menu</nav>
      <p>Open <b>daily</b> <a href="javascript:alert(1)">now</a> <a href="/visit">visit</a><script>alert(2)</script></p>
      <img src="data:image/png;base64,AAAA" alt="A plan"><table><tr><td>Day<td>Hours<tr><td>Mon|Tue<td>9</table>`;
    const text = await convert(utf8(page), 'text/html');
    expect(text).toMatch(/^# Hours & prices\n\nMenu/);
    expect(text).toContain('Open **daily** now [visit](/visit)');
    expect(text).toContain('![A plan]');
    expect(text).toContain('| Day | Hours |\n| --- | --- |\n| Mon\\|Tue | 9 |');
    expect(text).not.toMatch(/alert|base64|p\{\}/);
  });

  it('is read in its declared encoding', async () => {
    const page = Buffer.from('<meta charset="iso-8859-1"><p>caf\u00e9</p>', 'latin1');
    expect(await convert(page, 'text/html')).toBe('café\n');
    const utf16 = Buffer.from('\ufeff<p>日本</p>', 'utf16le');
    expect(await convert(utf16, 'text/html')).toBe('日本\n');
  });
});

describe('text that looks like Markdown', () => {
  it('is escaped, except in names and tokens', async () => {
    const said = async (text: string) => (await convert(utf8(`<p>${text}</p>`), 'text/html')).trim();
    expect(await said('ghp_12ab__34 is a_name')).toBe('ghp_12ab__34 is a_name');
    expect(await said('__init__ _so_ *so* [so](so) `so`')).toBe(
      '\\_\\_init\\_\\_ \\_so\\_ \\*so\\* \\[so\\](so) \\`so\\`',
    );
    expect(await said('# 1')).toBe('\\# 1');
  });
});

describe('tables in text', () => {
  it('become Markdown tables, and records in JSON', async () => {
    const bytes = utf8('id,piece\n17,"Clock ""Orion"", brass"\n18,a|b\n');
    expect(await convert(bytes, 'text/csv')).toBe(
      '| id | piece |\n| --- | --- |\n| 17 | Clock "Orion", brass |\n| 18 | a\\|b |\n',
    );
    expect(JSON.parse(await convert(bytes, 'text/csv', 'application/json'))).toEqual([
      { id: '17', piece: 'Clock "Orion", brass' },
      { id: '18', piece: 'a|b' },
    ]);
  });

  it('lose no cell if a column has no name, the name of another column, or one that every object inherits', async () => {
    const json = async (text: string) => JSON.parse(await convert(utf8(text), 'text/csv', 'application/json'));
    expect(await json('a,a\n1,2\n')).toEqual([
      ['a', 'a'],
      ['1', '2'],
    ]);
    expect(await json('a,b\n1,2,3\n')).toEqual([['1', '2', '3']]);
    expect(await convert(utf8('__proto__,b\n1,2\n'), 'text/csv', 'application/json')).toContain(
      '{"__proto__":"1","b":"2"}',
    );
  });
});

describe('a document cannot [SEC-RES-6]', () => {
  const odt = (content: string): Uint8Array => zipSync({ 'content.xml': strToU8(content) });

  it('expand entities that it declares', async () => {
    const body = (text: string): string =>
      `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><text:p>${text}</text:p></office:body></office:document-content>`;
    const dtd = `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>`;
    const text = await convert(odt(`<?xml version="1.0"?>${dtd}${body('x &b; &f; y')}`), `${ODF}text`);
    expect(text).not.toMatch(/haha|root:/);
    expect(text.length).toBeLessThan(100);
  });

  it('lead out of its archive', async () => {
    const book = zipSync({
      'META-INF/container.xml': strToU8(
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>',
      ),
      'a.opf': strToU8(
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="x" href="../../../../etc/passwd"/></manifest><spine><itemref idref="x"/></spine></package>',
      ),
    });
    expect(await convert(book, 'application/epub+zip')).toBe('');
  });

  it.each(CONVERTERS.flatMap(({ from, to }) => (from[0] === undefined ? [] : [[from[0], to[0] ?? '']])))(
    'break the converter of %s by being noise or empty: the outcome is an error or a text',
    async (from, to) => {
      for (const bytes of [new Uint8Array(), utf8('noise\u0000'.repeat(50)), new Uint8Array(64).fill(0xff)]) {
        const said = await convert(bytes, from, to).catch((error: unknown) => error);
        expect(said instanceof Error || typeof said === 'string').toBe(true);
      }
    },
  );

  it('have too many files, or parts with too many levels; the error gives the limit', async () => {
    const files = Object.fromEntries(Array.from({ length: 20_001 }, (_, index) => [`${index}`, new Uint8Array()]));
    await expect(convert(zipSync(files, { level: 0 }), 'application/epub+zip')).rejects.toThrow(
      'The archive is larger than 20000 files',
    );
    const deep = zipSync({ 'content.xml': strToU8('<a>'.repeat(2_000)) });
    await expect(convert(deep, `${ODF}text`)).rejects.toThrow(/^The depth of the document is larger than \d+ levels$/);
  });

  it('be larger than the limit of a format', async () => {
    const rows = utf8('a,b\n'.repeat(1_000));
    await expect(convert(rows, 'text/csv', MARKDOWN, { ...LIMITS, maxOutputBytes: 500 })).rejects.toMatchObject({
      code: 'too-large',
      details: { limit: 500 },
    });
  });

  it('keep the memory of the PDF library, whether or not the conversion succeeds', async () => {
    const bytes = new Uint8Array(await readFile(new URL('conservation-report.pdf', OFFICE)));
    const document = await getDocumentProxy(bytes.slice());
    const { loadingTask } = document;
    const destroy = vi.spyOn(Object.getPrototypeOf(loadingTask) as typeof loadingTask, 'destroy');
    await convert(bytes, 'application/pdf');
    expect(destroy).toHaveBeenCalledTimes(1);
    await expect(convert(bytes, 'application/pdf', MARKDOWN, { ...LIMITS, maxOutputBytes: 5 })).rejects.toThrow();
    expect(destroy).toHaveBeenCalledTimes(2);
    destroy.mockRestore();
    await loadingTask.destroy();
  });
});
