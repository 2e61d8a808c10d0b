/**
 * Runs the automaton of a template over a URI in two passes, each linear in the length of the URI. The first pass goes backward
 * and notes, for each node and each position, the best score that the rest of the URI can have from there. The second pass goes
 * forward and at each choice takes the preferred successor with the best score. So it never has to backtrack.
 */

import type { Part } from './parse.ts';
import { toUnits, type Units } from './percent.ts';
import {
  type CapturedVariable,
  compileProgram,
  type LiteralNode,
  type Node,
  type Program,
  type UnitClass,
} from './program.ts';

/** The length of the longest URI that is matched, in UTF-16 code units. */
export const MAX_URI_LENGTH = 65_536;
/** The most nodes times positions: limits a template of many variables to shorter URIs. */
const MAX_CELLS = 8_388_608;

/**
 * Which of several matches is the best: the one that binds the most variables, or the one in which most parameters go to the
 * variable of their name and not to an associative array. Of several such matches, the former is the one with most parameters of
 * that kind, and the latter the one that binds the fewest variables.
 */
export type Best = 'most variables' | 'most names';

/**
 * The scores of each variable that is bound, and of each parameter that goes to the variable of its name. One score outweighs all
 * of the others together: the longest URI has fewer than 65,536 parameters, and a template at most 128 variables. All together
 * fit in 32 bits.
 */
const SCORES: Readonly<Record<Best, { readonly open: number; readonly name: number }>> = {
  'most variables': { open: 65_536, name: 1 },
  'most names': { open: -1, name: 256 },
};

/**
 * The score of the end of the URI: more than all variables of a template together can take from it, so that a match never has 0.
 */
const END = 256;

/** The units from `start` to `end` that a variable took. They include its name if the operator writes names. */
export interface Capture {
  readonly variable: CapturedVariable;
  readonly start: number;
  readonly end: number;
}

interface MatchRun {
  readonly match: { readonly units: Units; readonly captures: readonly Capture[] } | undefined;
  /** The steps taken. Tests limit these instead of the time. */
  readonly steps: number;
}

interface Matcher {
  /** The size of the automaton. */
  readonly nodes: number;
  /** @param best default: `most variables` */
  run(uri: string, best?: Best): MatchRun;
}

/** Prepares matching of URIs against the parts of a template. Running it never throws. */
export function compileMatcher(parts: readonly Part[]): Matcher {
  const program = compileProgram(parts);
  const first = parts[0];
  const leading = first?.kind === 'literal' ? toUnits(first.text) : undefined;
  return {
    nodes: program.nodes.length,
    run(uri, best = 'most variables') {
      if (uri.length > MAX_URI_LENGTH) return { match: undefined, steps: 0 };
      const units = toUnits(uri);
      if (units === undefined || !beginsWith(units, leading)) return { match: undefined, steps: uri.length };
      if ((units.length + 1) * program.nodes.length > MAX_CELLS) return { match: undefined, steps: uri.length };
      const scores = score(program, units, SCORES[best]);
      if (scores.at(program.start, 0) === 0) return { match: undefined, steps: scores.steps };
      const captures = walk(program, units, scores);
      return { match: { units, captures }, steps: scores.steps };
    },
  };
}

/** Compares the leading literal first: most URIs that do not match differ there, and need no more work. */
function beginsWith(units: Units, leading: Units | undefined): boolean {
  if (leading === undefined) return true;
  return leading.codes.subarray(0, leading.length).every((code, i) => i < units.length && code === units.codes[i]);
}

interface Scores {
  steps: number;
  at(node: number, position: number): number;
}

/** Runs the backward pass. A score is 0 if the rest cannot match, else that of the best way to match it. */
function score({ nodes }: Program, units: Units, scores: (typeof SCORES)[Best]): Scores {
  const width = nodes.length;
  const cells = new Int32Array((units.length + 1) * width);
  const at = (node: number, position: number) => cells[position * width + node] ?? 0;
  const literals = nodes.map((node) => (node.kind === 'literal' ? new LiteralScan(node) : undefined));
  const windows = nodes.map((node) => (node.kind === 'atMost' ? new Window(node.max) : undefined));

  const scoreOf = (node: Node, index: number, position: number): number => {
    switch (node.kind) {
      case 'accept':
        return position === units.length ? END : 0;
      case 'literal':
        return literals[index]?.advance(units.codes[position] ?? -1)
          ? at(node.next, position + node.reversed.length)
          : 0;
      case 'one':
        return holds(node.units, units, position) ? at(node.next, position + 1) : 0;
      case 'many': {
        const stay = at(node.next, position);
        return holds(node.units, units, position) ? Math.max(stay, at(index, position + 1)) : stay;
      }
      case 'atMost':
        if (!holds(node.units, units, position)) windows[index]?.clear();
        return windows[index]?.advance(position, at(node.next, position)) ?? 0;
      case 'choice':
        return Math.max(at(node.first, position), at(node.second, position));
      case 'open':
      case 'name': {
        const rest = at(node.next, position);
        return rest === 0 ? 0 : rest + scores[node.kind];
      }
      case 'close':
        return at(node.next, position);
    }
  };

  let steps = 0;
  for (let position = units.length; position >= 0; position--) {
    for (let index = 0; index < width; index++, steps++) {
      const node = nodes[index];
      if (node !== undefined) cells[position * width + index] = scoreOf(node, index, position);
    }
  }
  for (const counted of [...literals, ...windows]) steps += counted?.steps ?? 0;
  return { steps, at };
}

/** Runs the forward pass: follows the best way from the start to the end of the URI, and returns what variables took. */
function walk({ nodes, start }: Program, units: Units, scores: Scores): Capture[] {
  const captures: Capture[] = [];
  let opened: { variable: CapturedVariable; start: number } | undefined;
  let position = 0;
  for (let index = start; ; ) {
    const node = nodes[index];
    scores.steps++;
    switch (node?.kind) {
      case undefined:
      case 'accept':
        return captures;
      case 'literal':
        position += node.reversed.length;
        break;
      case 'one':
        position++;
        break;
      case 'many':
        if (holds(node.units, units, position) && scores.at(index, position + 1) === scores.at(index, position)) {
          position++;
          continue;
        }
        break;
      case 'atMost':
        position = farthest(node, units, position, scores);
        break;
      case 'choice':
        index = scores.at(node.first, position) >= scores.at(node.second, position) ? node.first : node.second;
        continue;
      case 'open':
        opened = { variable: node.variable, start: position };
        break;
      case 'close':
        if (opened !== undefined) captures.push({ ...opened, end: position });
        break;
      case 'name':
        break;
    }
    index = node.next;
  }
}

/** Returns the position with the highest score after at most `max` units; the farthest one of several. */
function farthest(node: Node & { kind: 'atMost' }, units: Units, from: number, scores: Scores): number {
  let best = from;
  for (let end = from + 1; end <= from + node.max && holds(node.units, units, end - 1); end++) {
    scores.steps++;
    if (scores.at(node.next, end) >= scores.at(node.next, best)) best = end;
  }
  return best;
}

function holds({ mask, extra }: UnitClass, units: Units, position: number): boolean {
  if (position >= units.length) return false;
  return ((units.kinds[position] ?? 0) & mask) !== 0 || units.codes[position] === extra;
}

/** Finds a literal in units that are read backward, with the algorithm of Knuth, Morris and Pratt on the reversed literal. */
class LiteralScan {
  steps = 0;
  readonly #node: LiteralNode;
  #matched = 0;

  constructor(node: LiteralNode) {
    this.#node = node;
  }

  /** Takes the next unit, going backward. Returns whether the literal begins at this unit. */
  advance(code: number): boolean {
    const { reversed, failures } = this.#node;
    while (this.#matched > 0 && reversed[this.#matched] !== code) {
      this.#matched = failures[this.#matched - 1] ?? 0;
      this.steps++;
    }
    if (reversed[this.#matched] === code) this.#matched++;
    return this.#matched === reversed.length;
  }
}

/**
 * Keeps the highest score of the last positions of a backward scan. Its queue has only the scores that can still become the
 * highest, in falling order.
 */
class Window {
  steps = 0;
  readonly #max: number;
  #queue: { readonly position: number; readonly score: number }[] = [];
  #first = 0;

  constructor(max: number) {
    this.#max = max;
  }

  clear(): void {
    this.#queue = [];
    this.#first = 0;
  }

  /** Takes the score at the next position, going backward. Returns the highest score from there to `max` positions later. */
  advance(position: number, score: number): number {
    const queue = this.#queue;
    while (queue.length > this.#first && (queue.at(-1)?.score ?? 0) <= score) {
      queue.pop();
      this.steps++;
    }
    queue.push({ position, score });
    while ((queue[this.#first]?.position ?? position) > position + this.#max) {
      this.#first++;
      this.steps++;
    }
    return queue[this.#first]?.score ?? 0;
  }
}
