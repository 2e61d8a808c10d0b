/** Parses XML into a tree. Entities that a document declares are ignored, so none is expanded. Depth and size are bounded. */
import { tooMuch } from './converter.ts';

export interface Element {
  /** The name with the prefix of its namespace in `PREFIXES`, whatever prefix the document uses. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly (Element | string)[];
}

const MAX_DEPTH = 512;
const MAX_NODES = 3_000_000;

const PREFIXES: Readonly<Record<string, string>> = {
  'http://schemas.openxmlformats.org/drawingml/2006/main': 'a',
  'http://schemas.openxmlformats.org/presentationml/2006/main': 'p',
  'http://schemas.openxmlformats.org/officeDocument/2006/relationships': 'r',
  'http://schemas.openxmlformats.org/package/2006/relationships': 'rel',
  'http://purl.oclc.org/ooxml/drawingml/main': 'a',
  'http://purl.oclc.org/ooxml/presentationml/main': 'p',
  'http://purl.oclc.org/ooxml/officeDocument/relationships': 'r',
  'urn:oasis:names:tc:opendocument:xmlns:office:1.0': 'office',
  'urn:oasis:names:tc:opendocument:xmlns:text:1.0': 'text',
  'urn:oasis:names:tc:opendocument:xmlns:table:1.0': 'table',
  'urn:oasis:names:tc:opendocument:xmlns:drawing:1.0': 'draw',
  'urn:oasis:names:tc:opendocument:xmlns:presentation:1.0': 'presentation',
  'urn:oasis:names:tc:opendocument:xmlns:style:1.0': 'style',
  'http://www.w3.org/1999/xlink': 'xlink',
  'http://www.idpf.org/2007/opf': 'opf',
  'http://purl.org/dc/elements/1.1/': 'dc',
  'urn:oasis:names:tc:opendocument:xmlns:container': 'container',
};

/** @throws Error if the text is not XML; ResourceError `too-large` if it is too deep or has too many parts */
export async function parseXml(xml: string): Promise<Element> {
  const { Parser } = await import('saxen');
  type Open = { name: string; attributes: Readonly<Record<string, string>>; children: (Element | string)[] };
  const root: Open = { name: '', attributes: {}, children: [] };
  const open: Open[] = [root];
  let nodes = 0;
  const count = (): void => {
    if (++nodes > MAX_NODES) throw tooMuch('The document', MAX_NODES, 'parts');
  };
  const parser = new Parser().ns(PREFIXES);
  parser.on('openTag', (name, attributesOf, decode) => {
    count();
    const attributes = Object.fromEntries(Object.entries(attributesOf()).map(([key, value]) => [key, decode(value)]));
    const element: Open = { name, attributes, children: [] };
    open.at(-1)?.children.push(element);
    if (open.push(element) > MAX_DEPTH) throw tooMuch('The depth of the document', MAX_DEPTH, 'levels');
  });
  parser.on('closeTag', () => void open.pop());
  parser.on('text', (text, decode) => {
    count();
    open.at(-1)?.children.push(decode(text));
  });
  parser.on('cdata', (text) => {
    count();
    open.at(-1)?.children.push(text);
  });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('warn', () => {});
  parser.parse(xml);
  return root;
}

/** Finds the elements of a name in document order, without searching inside a found element. */
export function* all(element: Element, name: string): Iterable<Element> {
  for (const child of element.children) {
    if (typeof child === 'string') continue;
    if (child.name === name) yield child;
    else yield* all(child, name);
  }
}

export function first(element: Element, name: string): Element | undefined {
  for (const found of all(element, name)) return found;
  return undefined;
}

/** Returns all text in an element. */
export const textOf = (element: Element): string =>
  element.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
