/** Converts e-books: the chapters in reading order. */
import { decodedText } from '../../../core/uri.ts';
import { type Files, resolveIn, textIn, unpack } from './archive.ts';
import { type Converter, createOutput } from './converter.ts';
import { heading, markdownOf } from './markdown.ts';
import { all, first, parseXml, textOf } from './xml.ts';

export const epub: Converter = {
  name: 'epub',
  from: ['application/epub+zip'],
  to: ['text/markdown'],
  async convert(bytes, conversion) {
    const files = await unpack(bytes, (name) => /\.(?:xml|opf|xhtml|html?|ncx)$/i.test(name), conversion);
    const { title, chapters } = await bookOf(files);
    const output = createOutput(conversion);
    if (title !== '') output.add(heading(1, title));
    for (const chapter of chapters) {
      const text = textIn(files, chapter);
      if (text !== undefined) output.add(`${await markdownOf(text, conversion)}\n`);
    }
    return output.text();
  },
};

interface Book {
  readonly title: string;
  readonly chapters: readonly string[];
}

async function bookOf(files: Files): Promise<Book> {
  const container = textIn(files, 'META-INF/container.xml');
  const path = container && first(await parseXml(container), 'container:rootfile')?.attributes['full-path'];
  const xml = path === undefined ? undefined : textIn(files, path);
  if (path === undefined || xml === undefined) throw new Error('The file contains no book');
  const book = await parseXml(xml);
  const items = new Map([...all(book, 'opf:item')].map(({ attributes }) => [attributes.id, attributes.href]));
  const title = first(book, 'dc:title');
  return {
    title: title === undefined ? '' : textOf(title),
    chapters: [...all(book, 'opf:itemref')].flatMap(({ attributes }) => {
      const href = items.get(attributes.idref);
      return href === undefined ? [] : (resolveIn(path, decodedText(href.split('#', 1)[0] ?? '')) ?? []);
    }),
  };
}
