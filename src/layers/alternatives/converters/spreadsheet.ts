/** Converts spreadsheets of both families (Office Open XML, OpenDocument): each sheet becomes a table, or rows in JSON. */
import { repacked } from './archive.ts';
import { type Converter, createOutput } from './converter.ts';
import { addTable, heading } from './markdown.ts';

const ODS = 'application/vnd.oasis.opendocument.spreadsheet';

export const spreadsheet: Converter = {
  name: 'spreadsheet',
  from: [
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.template',
    'application/vnd.ms-excel.sheet.macroenabled.12',
    ODS,
  ],
  to: ['text/markdown', 'application/json'],
  async convert(bytes, conversion) {
    const archive = await repacked(bytes, conversion);
    const { sheets } =
      conversion.from === ODS
        ? await (await import('hucre/ods')).readOds(archive)
        : await (await import('hucre/xlsx')).readXlsx(archive);
    const output = createOutput(conversion);
    const asJson = conversion.to === 'application/json';
    if (asJson) output.add('{"sheets":[');
    sheets.forEach(({ name, rows }, index) => {
      if (asJson) {
        output.add(`${index === 0 ? '' : ','}\n{"name":${JSON.stringify(name)},"rows":[`);
        for (const [at, row] of rows.entries()) output.add(`${at === 0 ? '' : ','}\n${JSON.stringify(row)}`);
        output.add(']}');
      } else {
        output.add(`${index === 0 ? '' : '\n'}${heading(2, name)}`);
        addTable(
          output,
          rows.map((row) => row.map(cellText)),
        );
      }
    });
    if (asJson) output.add(']}\n');
    return output.text();
  },
};

/** Returns the text of a cell. A date is written in ISO 8601; if its time is midnight, the time is left out. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? '' : value.toISOString().replace(/T00:00:00\.000Z$/, '');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
