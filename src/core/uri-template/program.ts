/**
 * Compiles the parts of a template into the nodes of a nondeterministic automaton. It accepts the URIs that the template
 * can expand to, and marks the beginning and end of each variable's text.
 */

import type { Expression, Operator, Part, VariableSpec } from './parse.ts';
import { RESERVED, toUnits, UNRESERVED } from './percent.ts';

/** The units that a value may contain: those of the kinds in `mask`, and those with the code `extra` (a separator). */
export interface UnitClass {
  readonly mask: number;
  readonly extra: number;
}

/** A literal, prepared for a backward scan: reversed, with the failure table of the reversed literal (KMP). */
export interface LiteralNode {
  readonly kind: 'literal';
  readonly reversed: Int32Array;
  readonly failures: Int32Array;
  readonly next: number;
}

/** Exactly one unit. */
interface OneNode {
  readonly kind: 'one';
  readonly units: UnitClass;
  /** Set later if a separator leads back to a node that is compiled after it. */
  next: number;
}

/**
 * A node refers to its successors by index. Every node except `literal` and `one` may go on without consuming a unit, but only
 * to a lower index. So evaluation in ascending order reaches each node after its successors.
 */
export type Node =
  | { readonly kind: 'accept' }
  | LiteralNode
  | OneNode
  /** Any number of units. */
  | { readonly kind: 'many'; readonly units: UnitClass; readonly next: number }
  /** At most `max` units. */
  | { readonly kind: 'atMost'; readonly units: UnitClass; readonly max: number; readonly next: number }
  /** Either of two nodes; `first` is preferred. */
  | { readonly kind: 'choice'; readonly first: number; readonly second: number }
  /** The beginning of a variable's text. */
  | { readonly kind: 'open'; readonly variable: CapturedVariable; readonly next: number }
  /** The end of a variable's text. */
  | { readonly kind: 'close'; readonly next: number }
  /** Precedes the name of a variable. */
  | { readonly kind: 'name'; readonly next: number };

/** A mention of a variable, and the expression that contains it. */
export interface CapturedVariable {
  readonly spec: VariableSpec;
  readonly expression: Expression;
}

export interface Program {
  readonly nodes: readonly Node[];
  readonly start: number;
}

const NO_CODE = -1;

/** Compiles the automaton of a template. It has a limited number of nodes for each variable and literal. */
export function compileProgram(parts: readonly Part[]): Program {
  const builder = new Builder();
  const accept = builder.add({ kind: 'accept' });
  const start = parts.reduceRight(
    (next, part) =>
      part.kind === 'literal' ? builder.literal(part.text, next) : compileExpression(builder, part, next),
    accept,
  );
  return { nodes: builder.nodes, start };
}

class Builder {
  readonly nodes: Node[] = [];

  add(node: Node): number {
    return this.nodes.push(node) - 1;
  }

  literal(text: string, next: number): number {
    return this.add(text.length === 1 ? oneOf(text, next) : literalNode(text, next));
  }

  name(name: string, next: number): number {
    return this.add({ kind: 'name', next: this.literal(name, next) });
  }

  choice(first: number, second: number | undefined): number {
    return second === undefined ? first : this.add({ kind: 'choice', first, second });
  }

  /** Adds items with separators between them. @param item compiles an item that leads to `end` */
  loop(separator: string, next: number, item: (end: number) => number): number {
    const again = oneOf(separator, next);
    const start = item(this.choice(this.add(again), next));
    again.next = start;
    return start;
  }
}

/**
 * Compiles an expression: the first character of the operator, then the variables that are present, in order and with
 * separators between. Without a first character (`{x}`, `{+x}`), an empty value looks the same as no variable, so one variable
 * is always present.
 */
function compileExpression(builder: Builder, expression: Expression, next: number): number {
  const { operator, variables } = expression;
  let rest: number | undefined;
  for (const spec of variables.toReversed()) {
    const after = rest === undefined ? next : builder.choice(builder.literal(operator.separator, rest), next);
    const close = builder.add({ kind: 'close', next: after });
    const open = (content: number) => builder.add({ kind: 'open', variable: { spec, expression }, next: content });
    if (spec.explode && !operator.reserved) rest = builder.choice(open(compilePairs(builder, operator, close)), rest);
    rest = builder.choice(open(compilePlain(builder, operator, spec, close)), rest);
  }
  if (rest === undefined || operator.first === '') return rest ?? next;
  return builder.choice(builder.literal(operator.first, rest), next);
}

/** Compiles a string or a list, with the name of the variable if the operator writes names. */
function compilePlain(builder: Builder, operator: Operator, spec: VariableSpec, next: number): number {
  const mask = operator.reserved ? UNRESERVED | RESERVED : UNRESERVED;
  if (!spec.explode) {
    const units = { mask, extra: spec.prefix === undefined ? ','.charCodeAt(0) : NO_CODE };
    if (!operator.named) return compileValue(builder, units, spec.prefix, next);
    return builder.name(spec.name, compileAssignment(builder, operator, units, spec.prefix, next));
  }
  if (!operator.named) return compileValue(builder, { mask, extra: operator.separator.charCodeAt(0) }, undefined, next);
  return builder.loop(operator.separator, next, (end) =>
    builder.name(spec.name, compileAssignment(builder, operator, { mask, extra: NO_CODE }, undefined, end)),
  );
}

/** Compiles the pairs of an exploded associative array. A value has no raw `=`, so each `=` separates a key from its value. */
function compilePairs(builder: Builder, operator: Operator, next: number): number {
  const units = { mask: UNRESERVED, extra: NO_CODE };
  const assigned = operator.named ? operator : { ifEmpty: '=' as const };
  return builder.loop(operator.separator, next, (end) =>
    compileValue(builder, units, undefined, compileAssignment(builder, assigned, units, undefined, end)),
  );
}

/** Compiles the text after a name: `=value`, or for an empty value what the operator writes. */
function compileAssignment(
  builder: Builder,
  { ifEmpty }: Pick<Operator, 'ifEmpty'>,
  units: UnitClass,
  prefix: number | undefined,
  next: number,
): number {
  if (ifEmpty === '=') return builder.literal('=', compileValue(builder, units, prefix, next));
  const rest = compileValue(builder, units, prefix === undefined ? undefined : prefix - 1, next);
  return builder.choice(builder.literal('=', builder.add({ kind: 'one', units, next: rest })), next);
}

function compileValue(builder: Builder, units: UnitClass, prefix: number | undefined, next: number): number {
  return builder.add(
    prefix === undefined ? { kind: 'many', units, next } : { kind: 'atMost', units, max: prefix, next },
  );
}

/** Makes a node for a single character, which is faster than the search for a literal. */
function oneOf(character: string, next: number): OneNode {
  return { kind: 'one', units: { mask: 0, extra: character.charCodeAt(0) }, next };
}

function literalNode(text: string, next: number): LiteralNode {
  const units = toUnits(text);
  if (units === undefined) throw new RangeError(`not encoded: ${text}`);
  const reversed = units.codes.slice(0, units.length).reverse();
  const failures = new Int32Array(reversed.length);
  for (let i = 1, matched = 0; i < reversed.length; i++) {
    while (matched > 0 && reversed[matched] !== reversed[i]) matched = failures[matched - 1] ?? 0;
    if (reversed[matched] === reversed[i]) matched++;
    failures[i] = matched;
  }
  return { kind: 'literal', reversed, failures, next };
}
