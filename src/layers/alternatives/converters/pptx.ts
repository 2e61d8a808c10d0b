/** Converts PowerPoint presentations slide by slide, with titles, lists, tables and the speaker's notes. */
import { type Files, resolveIn, textIn, unpack } from './archive.ts';
import { type Converter, createOutput, type Output } from './converter.ts';
import { addTable, heading, plain } from './markdown.ts';
import { all, type Element, first, parseXml } from './xml.ts';

export const pptx: Converter = {
  name: 'pptx',
  from: [
    'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    'application/vnd.openxmlformats-officedocument.presentationml.slideshow',
    'application/vnd.ms-powerpoint.presentation.macroenabled.12',
  ],
  to: ['text/markdown'],
  async convert(bytes, conversion) {
    const files = await unpack(bytes, (name) => /^ppt\/.*\.(?:xml|rels)$/.test(name), conversion);
    const output = createOutput(conversion);
    let number = 0;
    for (const name of await slidesOf(files)) {
      const slide = textIn(files, name);
      if (slide === undefined) continue;
      addSlide(output, await parseXml(slide), ++number);
      const notes = (await relations(files, name)).find(({ type }) => type.endsWith('/notesSlide'))?.target;
      const text = notes === undefined ? undefined : textIn(files, notes);
      if (text !== undefined) addNotes(output, await parseXml(text));
    }
    return output.text();
  },
};

interface Relation {
  readonly id: string;
  readonly type: string;
  readonly target: string;
}

async function relations(files: Files, name: string): Promise<readonly Relation[]> {
  const at = name.lastIndexOf('/') + 1;
  const xml = textIn(files, `${name.slice(0, at)}_rels/${name.slice(at)}.rels`);
  if (xml === undefined) return [];
  return [...all(await parseXml(xml), 'rel:Relationship')].flatMap(({ attributes: { Id, Type = '', Target = '' } }) => {
    const target = resolveIn(name, Target);
    return Id === undefined || target === undefined ? [] : [{ id: Id, type: Type, target }];
  });
}

const PRESENTATION = 'ppt/presentation.xml';

async function slidesOf(files: Files): Promise<readonly string[]> {
  const xml = textIn(files, PRESENTATION);
  if (xml === undefined) throw new Error('The file contains no presentation');
  const targets = new Map((await relations(files, PRESENTATION)).map(({ id, target }) => [id, target]));
  return [...all(await parseXml(xml), 'p:sldId')].flatMap(
    ({ attributes }) => targets.get(attributes['r:id'] ?? '') ?? [],
  );
}

const TITLES: ReadonlySet<string> = new Set(['title', 'ctrTitle']);

const placeholderOf = (shape: Element): string | undefined => first(shape, 'p:ph')?.attributes.type;

function addSlide(output: Output, slide: Element, number: number): void {
  const shapes = [...all(slide, 'p:sp')];
  const title = shapes.find((shape) => TITLES.has(placeholderOf(shape) ?? ''));
  const name = title === undefined ? '' : paragraphsOf(title).join(' ');
  output.add(`${number === 1 ? '' : '\n'}${heading(2, name === '' ? `Slide ${number}` : `Slide ${number}: ${name}`)}`);
  for (const shape of shapes) {
    if (shape === title || placeholderOf(shape) === 'sldNum') continue;
    const isList =
      placeholderOf(shape) === undefined ? first(shape, 'p:ph') !== undefined : placeholderOf(shape) === 'body';
    for (const paragraph of all(shape, 'a:p')) {
      const text = plain(paragraphText(paragraph)).trim();
      if (text === '') continue;
      const level = Number(first(paragraph, 'a:pPr')?.attributes.lvl ?? 0);
      output.add(isList ? `${'  '.repeat(Math.min(8, Math.max(0, level)))}- ${text}\n` : `${text}\n\n`);
    }
    if (isList) output.add('\n');
  }
  for (const table of all(slide, 'a:tbl')) {
    const rows = [...all(table, 'a:tr')].map((row) =>
      [...all(row, 'a:tc')].map((cell) => paragraphsOf(cell).join(' ')),
    );
    addTable(output, rows);
    output.add('\n');
  }
}

function addNotes(output: Output, notes: Element): void {
  const body = [...all(notes, 'p:sp')].find((shape) => placeholderOf(shape) === 'body');
  const text = body === undefined ? [] : paragraphsOf(body).filter((paragraph) => paragraph.trim() !== '');
  if (text.length > 0) output.add(`${text.map((paragraph) => `> ${plain(paragraph)}`).join('\n>\n')}\n\n`);
}

const paragraphsOf = (element: Element): readonly string[] => [...all(element, 'a:p')].map(paragraphText);

/** Joins the text runs of a paragraph; a line break becomes a space. */
function paragraphText(paragraph: Element): string {
  return paragraph.children
    .map((child) => {
      if (typeof child === 'string') return '';
      if (child.name === 'a:br') return ' ';
      return [...all(child, 'a:t')]
        .map((run) => run.children.filter((part) => typeof part === 'string').join(''))
        .join('');
    })
    .join('');
}
