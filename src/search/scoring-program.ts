/**
 * A part of the program of a thread. It finds the best passages for some words, which it scores by the lists of the words and
 * the formula of FTS5's `bm25`. FTS5 itself counts each word anew in each statement, and looks up the length of each passage
 * that it scores, which takes some ten times as long. If a list cannot be read, the answer is `null`, and FTS5 has to be asked.
 *
 * The program needs what `LISTS_PROGRAM` needs, and `exec(sql)`.
 */
import { LISTS_PROGRAM } from './lists-program.ts';
import { MOST_WITHOUT_WEIGHT } from './pruning.ts';

/** The most bytes that are kept of words that more than half of the passages have. */
const MAX_COMMON_BYTES = 4 * 1024 * 1024;

/** The constants of FTS5's BM25, and the least weight of a word. */
const K1 = 1.2;
const B = 0.75;
const NO_WEIGHT = 1e-6;

export const SCORING_PROGRAM = `
${LISTS_PROGRAM}
// For words that more than half of the passages of a large table have: which passages have them. Such words hardly tell
// passages apart, so they give no score if other words do. This is kept until something is written.
let common = new Map();
let commonBytes = 0;
let version;

function forgetCommon() {
  const [[now]] = all('PRAGMA data_version');
  if (now === version && commonBytes <= ${MAX_COMMON_BYTES}) return;
  version = now;
  common = new Map();
  commonBytes = 0;
}

function noteCommon(key, count) {
  const bits = new Uint8Array((lengths.length >>> 3) + 1);
  for (let index = 0; index < count; index++) bits[passages[index] >>> 3] |= 1 << (passages[index] & 7);
  common.set(key, { count, bits });
  commonBytes += bits.length;
  return common.get(key);
}

// The score of each passage, by its number, and the terms that it has. All are zero between two questions.
let scores = new Float64Array(0);
let having = new Uint32Array(0);
let touched = new Uint32Array(4096);

function bestOfKind(kind, terms, limit, columns) {
  const { rows, words } = sumsOf(kind);
  if (rows === 0) return { passages: 0, counts: terms.map(() => 0), some: [], all: [], rows: '[]' };
  measure(kind);
  if (scores.length < lengths.length) {
    scores = new Float64Array(lengths.length);
    having = new Uint32Array(lengths.length);
  }
  forgetCommon();
  const segments = segmentsOf(kind);
  const average = words / rows;
  const isLarge = rows > ${MOST_WITHOUT_WEIGHT};
  const counts = terms.map(() => 0);
  const frequent = [];
  let found = 0;

  function add(at, count, weight) {
    const bit = (1 << at) >>> 0;
    if (found + count > touched.length) {
      const larger = new Uint32Array(Math.max(found + count, touched.length * 2));
      larger.set(touched);
      touched = larger;
    }
    let fresh = 0;
    for (let index = 0; index < count; index++) {
      const passage = passages[index];
      const frequency = frequencies[index];
      const before = having[passage];
      if (before === 0) touched[found++] = passage;
      if ((before & bit) === 0) {
        fresh++;
        having[passage] = before | bit;
      }
      scores[passage] +=
        weight * ((frequency * ${K1 + 1}) / (frequency + ${K1} * (1 - ${B} + (${B} * lengths[passage]) / average)));
    }
    return fresh;
  }

  try {
    for (const [at, stemmed] of terms.entries()) {
      for (const stem of stemmed) {
        const key = kind + ' ' + stem;
        const cached = stemmed.length === 1 ? common.get(key) : undefined;
        const count = cached?.count ?? readLists(kind, segments, stem, Infinity);
        const rarity = Math.log((rows - count + 0.5) / (count + 0.5));
        if (rarity <= 0 && isLarge && stemmed.length === 1) {
          frequent.push({ at, stem, bits: (cached ?? noteCommon(key, count)).bits });
          counts[at] = count;
        } else counts[at] += add(at, count, rarity <= 0 ? ${NO_WEIGHT} : rarity);
      }
    }
    if (frequent.length === terms.length) {
      for (const { at, stem } of frequent) add(at, readLists(kind, segments, stem, ${MOST_WITHOUT_WEIGHT}), ${NO_WEIGHT});
    }
    for (const { at, bits } of frequent) {
      for (let index = 0; index < found; index++) {
        const passage = touched[index];
        if ((bits[passage >>> 3] >>> (passage & 7)) & 1) having[passage] |= 1 << at;
      }
    }
    const everything = (terms.length === 32 ? -1 : (1 << terms.length) - 1) >>> 0;
    const some = best(found, limit, 0);
    const whole = terms.length > 1 ? best(found, limit, everything) : [];
    const [[placed]] = all(columns, JSON.stringify([...new Set([...some, ...whole])]));
    const scored = (list) => list.map((passage) => [passage, scores[passage]]);
    return { passages: rows, counts, some: scored(some), all: scored(whole), rows: placed };
  } finally {
    for (let index = 0; index < found; index++) {
      scores[touched[index]] = 0;
      having[touched[index]] = 0;
    }
  }
}

// Returns the best of the passages that were found, best first; of equal ones, the one that was written first.
function best(found, limit, everything) {
  const byScore = (a, b) => scores[b] - scores[a] || a - b;
  let kept = [];
  let least = -1;
  for (let index = 0; index < found; index++) {
    const passage = touched[index];
    if (scores[passage] < least || (having[passage] & everything) >>> 0 !== everything) continue;
    kept.push(passage);
    if (kept.length < limit * 2) continue;
    kept = kept.sort(byScore).slice(0, limit);
    least = scores[kept[limit - 1]];
  }
  return kept.sort(byScore).slice(0, limit);
}

// Returns for each kind the best passages that have one of the terms, and the best that have all; null if FTS5 has to be asked.
function scored({ kinds, terms, limit, columns }) {
  exec('BEGIN');
  try {
    const stemmed = terms.map(stemsOf);
    return kinds.map((kind) => bestOfKind(kind, stemmed, limit, columns));
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  } finally {
    exec('COMMIT');
  }
}
`;
