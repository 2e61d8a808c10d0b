/** Makes HTML that is always escaped: a value in a template becomes text, unless it is itself the result of a template. */
import { showUnseen } from '../../core/text/clean-text.ts';

/** Safe HTML, which only `html` makes. */
class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

export type Html = Markup;

/** A value that may go into a template. `undefined` and `false` write nothing. */
export type Part = Html | string | number | undefined | false | readonly Part[];

/** For each template, the numbers of the parts that are in a tag and outside of quotes. */
const bare = new WeakMap<TemplateStringsArray, ReadonlySet<number>>();

/**
 * Makes HTML. Text is escaped, also between the quotes of an attribute. In a tag and outside of quotes, only HTML is accepted,
 * such as an optional attribute. Invisible characters are written as `\u{202e}`.
 * @throws TypeError for text in a tag outside of quotes
 */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const inTag = bare.get(strings) ?? barePartsOf(strings);
  bare.set(strings, inTag);
  let text = strings[0] ?? '';
  parts.forEach((part, at) => {
    if (inTag.has(at) && !isMarkup(part)) throw new TypeError('Text goes into a tag between quotes only');
    text += textOf(part) + (strings[at + 1] ?? '');
  });
  return new Markup(text);
}

const isMarkup = (part: Part): boolean =>
  part === undefined || part === false || part instanceof Markup || (Array.isArray(part) && part.every(isMarkup));

function textOf(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Markup) return part.toString();
  return typeof part === 'object' ? part.map(textOf).join('') : escaped(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string =>
  showUnseen(text.toWellFormed()).replace(/[&<>"']/g, (found) => ENTITIES[found] ?? '');

function barePartsOf(strings: TemplateStringsArray): ReadonlySet<number> {
  const numbers = new Set<number>();
  let before = '';
  for (let at = 0; at < strings.length - 1; at++) {
    before += strings[at] ?? '';
    const tag = before.slice(before.lastIndexOf('<'));
    if (!tag.includes('>') && tag.startsWith('<') && tag.split('"').length % 2 === 1) numbers.add(at);
  }
  return numbers;
}
