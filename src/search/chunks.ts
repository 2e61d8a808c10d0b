/** A text in pieces that a hit can point at: by its headings and pages, and of a size that a snippet is found in. */

/** Characters of a piece after which the next paragraph begins another one; and at most. */
const WANTED_CHARACTERS = 1_500;
const MAX_CHARACTERS = 4_000;

/** Pieces of one text. */
export const MAX_CHUNKS = 10_000;

export interface Chunk {
  /** The headings that it stands under, the outermost first. */
  readonly headings: readonly string[];
  /** Of a document that has pages. */
  readonly page: number | undefined;
  /** Its lines, from 1. */
  readonly first: number;
  readonly last: number;
  /** The offset of its lines in the text, in bytes of UTF-8. */
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

const HEADING = /^(?<marks>#{1,6})\s+(?<title>.+?)\s*#*\s*$/;
/** As documents are converted. */
const PAGE = /^<!-- page (?<number>\d{1,9}) -->$/;
const FENCE = /^\s{0,3}(?:```|~~~)/;
const TAG = /<[^>]{0,4096}>/g;
const MARKUP = /^(?:text\/html|application\/xhtml\+xml|text\/xml|application\/(?:[\w.+-]+\+)?xml|image\/svg\+xml)\b/;

/** Whether headings are marked as in Markdown. */
const hasHeadings = (mimeType: string): boolean => /^text\/(?:markdown|x-markdown)\b/.test(mimeType);

/** @param mimeType of the text as it is given, and not of the document that it was made of */
export function* chunksOfText(text: string, mimeType: string): Generator<Chunk> {
  const lines = text.split('\n');
  const words = MARKUP.test(mimeType) ? withoutTags(text).split('\n') : lines;
  const headings: string[] = [];
  const marked = hasHeadings(mimeType);
  let fenced = false;
  let page: number | undefined;
  let first = 1;
  let piece: string[] = [];
  let size = 0;
  let count = 0;
  let offset = 0;
  let length = 0;

  function* end(next: number): Generator<Chunk> {
    const said = piece.join('\n');
    if (said.trim() !== '' && count < MAX_CHUNKS) {
      count++;
      yield {
        headings: headings.filter((each) => each !== ''),
        page,
        first,
        last: next - 1,
        offset,
        length,
        text: said,
      };
    }
    piece = [];
    size = 0;
    first = next;
    offset += length;
    length = 0;
  }

  for (const [index, line] of lines.entries()) {
    const number = index + 1;
    if (count >= MAX_CHUNKS) return;
    if (marked && FENCE.test(line)) fenced = !fenced;
    const heading = marked && !fenced ? HEADING.exec(line)?.groups : undefined;
    if (heading !== undefined) {
      yield* end(number);
      const level = heading.marks?.length ?? 1;
      headings.length = Math.min(headings.length, level - 1);
      while (headings.length < level - 1) headings.push('');
      headings.push(heading.title ?? '');
    } else if (marked && PAGE.test(line)) {
      yield* end(number);
      page = Number(PAGE.exec(line)?.groups?.number);
    } else if (size >= MAX_CHARACTERS || (size >= WANTED_CHARACTERS && line.trim() === '')) {
      yield* end(number);
    }
    // A line may be a whole file: words behind the bound are not looked for.
    const part = (words[index] ?? '').slice(0, MAX_LINE_CHARACTERS);
    piece.push(part);
    size += part.length + 1;
    length += Buffer.byteLength(line) + 1;
  }
  yield* end(lines.length + 1);
}

/** The most characters of a line that are in the index. */
const MAX_LINE_CHARACTERS = 64 * 1024;

/** Tags become spaces, and lines stay lines. */
const withoutTags = (text: string): string => text.replace(TAG, (tag) => tag.replace(/[^\n]+/g, ' '));
