/**
 * The part of the scanning thread's program that finds text with two or four bytes per character: UTF-16 and UTF-32 in either
 * byte order, at any offset, even in the middle of other data.
 */

/**
 * `wideTexts(bytes)` yields, for each byte order, the text without its NULs, and the place of each of its characters. A line
 * end separates two runs of characters. Runs of fewer than 8 characters are left out, since they hold no secret.
 */
export const WIDE_PROGRAM = `
const LEAST_WIDE = 8;

function* wideTexts(bytes) {
  if (!bytes.includes(0)) return;
  for (const side of [1, -1]) {
    const wide = wideText(bytes, side);
    if (wide.dense.length > 0) yield wide;
  }
}

/** @param side of a character on which its NUL is: 1 behind it, as in little endian, -1 before it */
function wideText(bytes, side) {
  const first = side === 1 ? 0 : 1;
  const behind = side === 1 ? bytes.length - 1 : bytes.length;
  let most = 0;
  for (let at = first; at < behind; at++) if (bytes[at] !== 0 && bytes[at + side] === 0) most++;
  const room = most + Math.ceil(most / LEAST_WIDE) + 1;
  const dense = Buffer.alloc(room);
  const places = new Uint32Array(room);
  let length = 0;
  let begin = 0;
  for (let at = first; at < behind; at++) {
    if (bytes[at] === 0 || bytes[at + side] !== 0) continue;
    if (length > begin && !isNext(bytes, places[length - 1], at)) {
      length = ended(dense, places, begin, length);
      begin = length;
    }
    dense[length] = bytes[at];
    places[length++] = at;
  }
  length = ended(dense, places, begin, length);
  return { dense: dense.toString('latin1', 0, length), places };
}

/** Whether there is nothing but one to three NULs between two characters. */
function isNext(bytes, before, at) {
  if (at - before < 2 || at - before > 4) return false;
  for (let between = before + 1; between < at; between++) if (bytes[between] !== 0) return false;
  return true;
}

/** Ends a run, or drops it if it is short. Returns where the next run begins. */
function ended(dense, places, begin, length) {
  if (length - begin < LEAST_WIDE) return begin;
  dense[length] = 10;
  places[length] = places[length - 1];
  return length + 1;
}
`;
