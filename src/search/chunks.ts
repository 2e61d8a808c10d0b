/** Cuts a text into pieces that a hit can point at: at headings and pages, and where a piece gets too large for a snippet. */

/** After this many characters of a piece, the next empty line begins another piece. */
const WANTED_CHARACTERS = 1_500;
/** After this many, any line does. */
const MAX_CHARACTERS = 4_000;

/** The most pieces of one text. */
export const MAX_CHUNKS = 10_000;

export interface Chunk {
  /** The headings above it, the outermost first. */
  readonly headings: readonly string[];
  /** The number of its page, if the document has pages. */
  readonly page: number | undefined;
  /** Its first and last line, counted from 1. */
  readonly first: number;
  readonly last: number;
  /** The offset and length of its lines in the text, in bytes of UTF-8. */
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

const HEADING = /^(?<marks>#{1,6})\s+(?<title>.+?)\s*#*\s*$/;
/** The mark of a page in a document that was converted to text. */
const PAGE = /^<!-- page (?<number>\d{1,9}) -->$/;
const FENCE = /^\s{0,3}(?:```|~~~)/;
const TAG = /<[^>]{0,4096}>/g;
const MARKUP = /^(?:text\/html|application\/xhtml\+xml|text\/xml|application\/(?:[\w.+-]+\+)?xml|image\/svg\+xml)\b/;

/** Whether headings are marked as in Markdown. */
const hasHeadings = (mimeType: string): boolean => /^text\/(?:markdown|x-markdown)\b/.test(mimeType);

/** @param mimeType the MIME type of the text, not of a document that it was made from */
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
    const joined = piece.join('\n');
    if (joined.trim() !== '' && count < MAX_CHUNKS) {
      count++;
      yield {
        headings: headings.filter((title) => title !== ''),
        page,
        first,
        last: next - 1,
        offset,
        length,
        text: joined,
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
    // A line may be a whole file; its words beyond the limit are not indexed.
    const part = (words[index] ?? '').slice(0, MAX_LINE_CHARACTERS);
    piece.push(part);
    size += part.length + 1;
    length += Buffer.byteLength(line) + 1;
  }
  yield* end(lines.length + 1);
}

/** The most characters of a line that are in the index. */
const MAX_LINE_CHARACTERS = 64 * 1024;

/** Replaces tags by spaces, and keeps line breaks. */
const withoutTags = (text: string): string => text.replace(TAG, (tag) => tag.replace(/[^\n]+/g, ' '));
