/** Converts HTML and XHTML: all text of a page. */
import { decodeMarkup } from './charset.ts';
import type { Converter } from './converter.ts';
import { heading, markdownOf } from './markdown.ts';

export const html: Converter = {
  name: 'html',
  from: ['text/html', 'application/xhtml+xml'],
  to: ['text/markdown'],
  async convert(bytes, conversion) {
    const page = decodeMarkup(bytes);
    const title = /<title\b[^>]*>([^<]{1,1000})<\/title>/i.exec(page)?.[1] ?? '';
    const text = await markdownOf(page, conversion);
    return /^# /m.test(text) || title.trim() === '' ? text : heading(1, decodeEntities(title)) + text;
  },
};

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

const decodeEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{1,8}));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? all) : all;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
  });
