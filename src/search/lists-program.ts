/**
 * A part of the program of a thread. It reads the lists of words from the tables of FTS5, in their documented format
 * (https://sqlite.org/fts5.html#fts5_data_structures). Data that is not in this format throws `Unreadable`.
 *
 * The program needs a function `all(sql, ...parameters)` that returns the rows of a statement, `DatabaseSync`, and `workerData`
 * with `tokenizer` and `weights`, the weights of the columns.
 */

/** The highest number of a passage. Some arrays have a place for each number. */
const MAX_PASSAGES = 16_000_000;

/** The most words whose stems are remembered. */
const MAX_STEMS = 10_000;

/** Lengths of passages that one statement reads. */
const LENGTHS_AT_ONCE = 20_000;

/** The most pages that one statement reads. The first statement for a list reads one, since most lists end on their first page. */
const MAX_PAGES = 64;

export const LISTS_PROGRAM = `
class Unreadable extends Error {}

// Numbers are written in groups of seven bits, the highest first. This is the place behind the number that was read last:
let behind = 0;
function numberAt(bytes, from) {
  let number = 0;
  for (let at = from; at < bytes.length && at < from + 8; at++) {
    number = number * 128 + (bytes[at] & 127);
    if (bytes[at] < 128) {
      behind = at + 1;
      return number;
    }
  }
  throw new Unreadable('a number');
}
const shortAt = (bytes, from) => bytes[from] * 256 + bytes[from + 1];

let stemming;
const stems = new Map();

// Returns words as the index has them. Each must be a single word of the index.
function stemsOf(words) {
  const missing = [...new Set(words)].filter((word) => !stems.has(word));
  if (missing.length > 0) {
    if (stemming === undefined) {
      const made = new DatabaseSync(':memory:', { returnArrays: true });
      made.exec("CREATE VIRTUAL TABLE words USING fts5(word, content='', tokenize='" + workerData.tokenizer + "')");
      made.exec("CREATE VIRTUAL TABLE stems USING fts5vocab(words, 'instance')");
      stemming = {
        made,
        clear: made.prepare("INSERT INTO words (words) VALUES ('delete-all')"),
        put: made.prepare('INSERT INTO words (rowid, word) VALUES (?, ?)'),
        get: made.prepare('SELECT doc, term FROM stems'),
      };
    }
    if (stems.size > ${MAX_STEMS}) stems.clear();
    stemming.clear.run();
    for (const [at, word] of missing.entries()) stemming.put.run(at + 1, word);
    const found = missing.map(() => []);
    for (const [at, term] of stemming.get.all()) found[at - 1].push(term);
    for (const [at, word] of missing.entries()) stems.set(word, found[at]);
  }
  return words.map((word) => {
    const [stem, ...others] = stems.get(word) ?? [];
    if (stem === undefined || others.length > 0) throw new Unreadable('a word that is several');
    return stem;
  });
}

// How many words each passage has, by its number. No number is used again while a file is open.
let lengths = new Uint32Array(0);
// For each kind, the highest number of a passage whose length has been read.
const measuredTo = new Map();

function measure(kind) {
  for (;;) {
    const before = measuredTo.get(kind) ?? 0;
    const [[listed, last] = []] = all(
      "SELECT group_concat(id || ' ' || hex(sz), ' '), max(id) FROM (SELECT id, sz FROM words_" + kind + '_docsize WHERE id > ? ORDER BY id LIMIT ${LENGTHS_AT_ONCE})',
      before,
    );
    if (typeof last !== 'number' || typeof listed !== 'string') return;
    if (last > ${MAX_PASSAGES}) throw new Unreadable('too many passages');
    if (last >= lengths.length) {
      const larger = new Uint32Array(Math.max(last + 1, Math.min(${MAX_PASSAGES} + 1, lengths.length * 2)));
      larger.set(lengths);
      lengths = larger;
    }
    const parts = listed.split(' ');
    for (let at = 0; at + 1 < parts.length; at += 2) {
      const sizes = parts[at + 1];
      let sum = 0;
      let number = 0;
      for (let place = 0; place < sizes.length; place += 2) {
        const byte = parseInt(sizes.slice(place, place + 2), 16);
        number = number * 128 + (byte & 127);
        if (byte >= 128) continue;
        sum += number;
        number = 0;
      }
      lengths[Number(parts[at])] = sum;
    }
    measuredTo.set(kind, last);
  }
}

// Returns how many rows a table has, and how many words all of them have.
function sumsOf(kind) {
  const [[block] = []] = all('SELECT block FROM words_' + kind + '_data WHERE id = 1');
  if (block === undefined || block.length === 0) return { rows: 0, words: 0 };
  const rows = numberAt(block, 0);
  let words = 0;
  while (behind < block.length) words += numberAt(block, behind);
  return { rows, words };
}

// Returns the segments that have the lists of a table, from its structure record.
function segmentsOf(kind) {
  const [[block] = []] = all('SELECT block FROM words_' + kind + '_data WHERE id = 10');
  if (block === undefined) throw new Unreadable('no structure');
  const marks = [255, 0, 0, 1];
  if (!marks.every((mark, at) => block[4 + at] === mark)) throw new Unreadable('another structure');
  const levels = numberAt(block, 8);
  numberAt(block, behind);
  numberAt(block, behind);
  const segments = [];
  for (let level = 0; level < levels; level++) {
    numberAt(block, behind);
    for (let left = numberAt(block, behind); left > 0; left--) {
      const [id, first, last, , , tombstonePages, tombstones] = Array.from({ length: 8 }, () => numberAt(block, behind));
      if (id > 0xffff || last < first) throw new Unreadable('a segment');
      segments.push({ id, first, last, tombstonePages, gone: goneOf(kind, { id, first, last, tombstonePages, tombstones }) });
    }
  }
  forgetOthers(kind, segments);
  return segments;
}

// Returns the passages that were removed since a segment was written, from its tombstones. A segment only gets more of them.
const goneBySegment = new Map();
function goneOf(kind, { id, first, last, tombstonePages, tombstones }) {
  if (tombstonePages === 0) return undefined;
  const key = kind + ' ' + id;
  const state = last + ' ' + tombstonePages + ' ' + tombstones;
  const cached = goneBySegment.get(key);
  if (cached?.state === state) return cached.gone;
  const gone = new Set();
  const pages = all(
    'SELECT block FROM words_' + kind + '_data WHERE id >= ((? + 65536) << 37) AND id < ((? + 65536) << 37) + ?',
    ...[id, id, tombstonePages],
  );
  if (pages.length !== tombstonePages) throw new Unreadable('tombstones');
  for (const [page] of pages) {
    const view = new DataView(page.buffer, page.byteOffset, page.byteLength);
    const size = page[0] === 4 ? 4 : 8;
    for (let at = 8; at + size <= page.length; at += size) {
      const number = size === 4 ? view.getUint32(at) : Number(view.getBigUint64(at));
      if (number > 0) gone.add(number);
    }
  }
  goneBySegment.set(key, { state, gone });
  return gone;
}

function forgetOthers(kind, segments) {
  if (goneBySegment.size === 0) return;
  const present = new Set(segments.map(({ id }) => kind + ' ' + id));
  for (const key of goneBySegment.keys()) if (key.startsWith(kind + ' ') && !present.has(key)) goneBySegment.delete(key);
}

// Returns a function that gives the pages of a segment one after the other, and undefined after the last.
function pagesFrom(kind, segment, first) {
  let next = first;
  let count = 1;
  let pages = [];
  let at = 0;
  return () => {
    if (at === pages.length) {
      if (next > segment.last) return undefined;
      const to = Math.min(segment.last, next + count - 1);
      pages = all(
        'SELECT block FROM words_' + kind + '_data WHERE id BETWEEN (? << 37) + ? AND (? << 37) + ? ORDER BY id',
        ...[segment.id, next, segment.id, to],
      );
      if (pages.length !== to - next + 1) throw new Unreadable('a page');
      next = to + 1;
      count = Math.min(${MAX_PAGES}, count * 4);
      at = 0;
    }
    return pages[at++][0];
  };
}

// Returns where the list of a word begins and ends on a page; without an end if the list may go on on the next page.
function listIn(page, term) {
  const size = shortAt(page, 2);
  if (size >= page.length) return undefined;
  let entry = numberAt(page, size);
  let footer = behind;
  let matched = 0;
  for (let isFirst = true; ; isFirst = false) {
    const kept = isFirst ? 0 : numberAt(page, entry);
    const fresh = numberAt(page, isFirst ? entry : behind);
    const from = behind;
    if (kept < matched) return undefined;
    if (kept === matched) {
      const most = Math.min(fresh, term.length - matched);
      let same = 0;
      while (same < most && page[from + same] === term[matched + same]) same++;
      matched += same;
      if (matched === term.length) {
        if (same !== fresh) return undefined;
        return { begins: from + fresh, ends: footer < page.length ? entry + numberAt(page, footer) : undefined };
      }
      if (same < fresh && page[from + same] > term[matched]) return undefined;
    }
    if (footer >= page.length) return undefined;
    entry += numberAt(page, footer);
    footer = behind;
  }
}

// The passages that have a word, and how often each has it, weighted by column. The next list that is read replaces them.
let passages = new Uint32Array(4096);
let frequencies = new Float64Array(4096);

// Reads the list of a word into these arrays, up to so many passages, and returns how many they are.
function readLists(kind, segments, stem, most) {
  // This mark distinguishes the lists of whole words from those of prefixes.
  const term = Buffer.from('0' + stem);
  let count = 0;
  for (const segment of segments) if (count < most) count = readList(kind, segment, term, count, most);
  return count;
}

function readList(kind, segment, term, before, most) {
  const [[found] = []] = all(
    'SELECT pgno FROM words_' + kind + '_idx WHERE segid = ? AND term <= ? ORDER BY term DESC LIMIT 1',
    ...[segment.id, term],
  );
  const nextPage = pagesFrom(kind, segment, Math.max(segment.first, found === undefined ? 1 : Math.floor(found / 2)));
  let page = nextPage();
  const list = page === undefined ? undefined : listIn(page, term);
  if (list === undefined) return before;
  const { weights } = workerData;
  const title = weights[0];
  const { gone } = segment;
  const end = lengths.length;
  let count = before;
  let at = list.begins;
  let stop = list.ends ?? shortAt(page, 2);
  let isLast = list.ends !== undefined;
  // The first passage that begins on a page is written as its number, each other one as the difference from the one before.
  let isFirst = true;
  let passage = 0;
  let left = 0;
  let isGone = false;
  let isColumn = false;
  let weight = title;
  let frequency = 0;
  while (count < most) {
    while (at < stop) {
      if (left === 0) {
        let byte = page[at++];
        let number = byte & 127;
        while (byte >= 128) {
          byte = page[at++];
          number = number * 128 + (byte & 127);
        }
        passage = isFirst ? number : passage + number;
        isFirst = false;
        byte = page[at++];
        number = byte & 127;
        while (byte >= 128) {
          byte = page[at++];
          number = number * 128 + (byte & 127);
        }
        left = number >>> 1;
        isGone = (number & 1) === 1 || (gone !== undefined && gone.has(passage));
        weight = title;
        frequency = 0;
        if (passage >= end || at > stop) throw new Unreadable('a passage');
      }
      const until = Math.min(stop, at + left);
      left -= until - at;
      // The mark of a column may be the last byte on a page, and the number of the column the first on the next page.
      if (isColumn && at < until) {
        weight = weights[page[at++]];
        isColumn = false;
      }
      while (at < until) {
        const byte = page[at++];
        if (byte === 1) {
          isColumn = at === until;
          if (!isColumn) weight = weights[page[at++]];
        } else {
          if (byte >= 128) while (page[at++] >= 128);
          frequency += weight;
        }
      }
      if (at > until) throw new Unreadable('places of a word');
      if (left > 0 || isGone) continue;
      if (count === passages.length) grow(count);
      passages[count] = passage;
      frequencies[count++] = frequency;
    }
    page = isLast ? undefined : nextPage();
    if (page === undefined) break;
    const size = shortAt(page, 2);
    isLast = page.length > size;
    stop = isLast ? numberAt(page, size) : size;
    at = 4;
    isFirst = true;
  }
  if (left > 0 && count < most) throw new Unreadable('a list');
  return Math.min(count, most);
}

function grow(count) {
  const [more, moreOften] = [new Uint32Array(count * 2), new Float64Array(count * 2)];
  more.set(passages);
  moreOften.set(frequencies);
  [passages, frequencies] = [more, moreOften];
}
`;
