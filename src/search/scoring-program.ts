/**
 * The part of the program of a thread that finds the best passages for some words. It scores the lists of the words by the
 * formula of FTS5's `bm25`. FTS5 itself counts each word anew in each statement, and looks up the length of each passage that
 * it scores, which takes some ten times as long. If a list cannot be read, the answer is `null`: then FTS5 is asked.
 *
 * The text needs what that of the lists needs, and `exec(sql)`.
 */
import { LISTS_PROGRAM } from './lists-program.ts';
import { MOST_WITHOUT_WEIGHT } from './pruning.ts';

/** Bytes of what is kept of words that more than half have. */
const MAX_COMMON_BYTES = 4 * 1024 * 1024;

/** The constants of FTS5's BM25, and the least that a word weighs. */
const K1 = 1.2;
const B = 0.75;
const NO_WEIGHT = 1e-6;

export const SCORING_PROGRAM = `
${LISTS_PROGRAM}
// Words that more than half of the passages have, of a large table: which passages have them. They are told apart by nothing
// but length, so they give no score where others do; kept until something is written.
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
  for (let each = 0; each < count; each++) bits[passages[each] >>> 3] |= 1 << (passages[each] & 7);
  common.set(key, { count, bits });
  commonBytes += bits.length;
  return common.get(key);
}

// By the number of a passage: its score, and which terms it has; all zero between two questions.
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
    for (let each = 0; each < count; each++) {
      const passage = passages[each];
      const frequency = frequencies[each];
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
        const known = stemmed.length === 1 ? common.get(key) : undefined;
        const count = known?.count ?? readLists(kind, segments, stem, Infinity);
        const rarity = Math.log((rows - count + 0.5) / (count + 0.5));
        if (rarity <= 0 && isLarge && stemmed.length === 1) {
          frequent.push({ at, stem, bits: (known ?? noteCommon(key, count)).bits });
          counts[at] = count;
        } else counts[at] += add(at, count, rarity <= 0 ? ${NO_WEIGHT} : rarity);
      }
    }
    if (frequent.length === terms.length) {
      for (const { at, stem } of frequent) add(at, readLists(kind, segments, stem, ${MOST_WITHOUT_WEIGHT}), ${NO_WEIGHT});
    }
    for (const { at, bits } of frequent) {
      for (let each = 0; each < found; each++) {
        const passage = touched[each];
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
    for (let each = 0; each < found; each++) {
      scores[touched[each]] = 0;
      having[touched[each]] = 0;
    }
  }
}

// The best of those that were found, the best first; of equal ones the first that was put in.
function best(found, limit, everything) {
  const byScore = (a, b) => scores[b] - scores[a] || a - b;
  let kept = [];
  let least = -1;
  for (let each = 0; each < found; each++) {
    const passage = touched[each];
    if (scores[passage] < least || (having[passage] & everything) >>> 0 !== everything) continue;
    kept.push(passage);
    if (kept.length < limit * 2) continue;
    kept = kept.sort(byScore).slice(0, limit);
    least = scores[kept[limit - 1]];
  }
  return kept.sort(byScore).slice(0, limit);
}

// For each kind its best passages that have one of the terms, and its best that have all; null where FTS5 has to be asked.
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
