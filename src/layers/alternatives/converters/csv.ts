/** Converts tables in text: cells between commas, semicolons or tabs. */
import { decodeText } from './charset.ts';
import { type Converter, createOutput } from './converter.ts';
import { addTable } from './markdown.ts';

export const csv: Converter = {
  name: 'csv',
  from: ['text/csv', 'text/tab-separated-values'],
  to: ['text/markdown', 'application/json'],
  async convert(bytes, conversion) {
    const { parseCsv } = await import('hucre/csv');
    const tabs = conversion.from === 'text/tab-separated-values' ? { delimiter: '\t' } : {};
    const rows = parseCsv(decodeText(bytes), { ...tabs, skipEmptyRows: true });
    const output = createOutput(conversion);
    if (conversion.to !== 'application/json') {
      addTable(
        output,
        rows.map((row) => row.map(String)),
      );
      return output.text();
    }
    const [head = [], ...records] = rows;
    const names = head.map(String);
    // With names that are missing or repeated, an object would lose cells, so each row becomes a list.
    const named = names.every((name) => name !== '') && new Set(names).size === names.length;
    output.add('[');
    (named ? records : rows).forEach((row, index) => {
      const fits = named && row.length <= names.length;
      const value = fits ? Object.fromEntries(names.map((name, column) => [name, row[column] ?? null])) : row;
      output.add(`${index === 0 ? '' : ','}\n${JSON.stringify(value)}`);
    });
    output.add('\n]\n');
    return output.text();
  },
};
