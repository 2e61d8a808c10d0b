import { expect, it } from 'vitest';
import { CSV_TYPE, renderSheet, SHEET_FORMATS } from './sheets.ts';

it.each([
  ['with a URI', true, SHEET_FORMATS, '; read the row by its URI'],
  ['without a URI, in all formats', false, SHEET_FORMATS, '; ask for one format only'],
  ['without a URI, in one format', false, [CSV_TYPE], ''],
])('a row %s that is too large is refused, with advice that can be followed', (_, keyed, formats, advice) => {
  const sheet = { title: 'notes', facts: [], columns: ['text'], keyed };
  const rows = [{ values: ['x'.repeat(10_000)], uri: keyed ? '1' : undefined }];
  const render = () => renderSheet(sheet, rows, formats, 5_000, () => ({ more: false, next: undefined }));
  const message = `Not even one row fits into the limit of one read${advice}`;
  expect(render).toThrow(expect.objectContaining({ code: 'too-large', message }));
});
