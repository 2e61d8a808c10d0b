/**
 * Compiles the parts of a template into the nodes of a nondeterministic automaton that accepts the URIs the template
 * can expand to, with marks where the text of a variable begins and ends.
 */

import type { Expression, Operator, Part, VariableSpec } from './parse.ts';
import { RESERVED, toUnits, UNRESERVED } from './percent.ts';

/** Units that a value may hold: those of the kinds in the mask, and one more code (a separator). */
export interface UnitClass {
  readonly mask: number;
  readonly extra: number;
}

/** A literal, with what finding it in a backward scan takes: its reverse and the failure table of that (KMP). */
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
  /** Set late where a separator leads back to what was compiled after it. */
  next: number;
}

/**
 * A node names its successors by index. All but `literal` and `one` may go on without consuming a unit, and then only
 * to a lower index: so evaluating by ascending index meets no node before its successors.
 */
export type Node =
  | { readonly kind: 'accept' }
  | LiteralNode
  | OneNode
  /** Any number of units; at most `max` units. */
  | { readonly kind: 'many'; readonly units: UnitClass; readonly next: number }
  | { readonly kind: 'atMost'; readonly units: UnitClass; readonly max: number; readonly next: number }
  /** Either; the first is the preferred one. */
  | { readonly kind: 'choice'; readonly first: number; readonly second: number }
  | { readonly kind: 'open'; readonly variable: CapturedVariable; readonly next: number }
  | { readonly kind: 'close'; readonly next: number }
  /** Before the name of a variable. */
  | { readonly kind: 'name'; readonly next: number };

/** A mention of a variable that can be captured, and the expression it stands in. */
export interface CapturedVariable {
  readonly spec: VariableSpec;
  readonly expression: Expression;
}

export interface Program {
  readonly nodes: readonly Node[];
  readonly start: number;
}

const NO_CODE = -1;

/** The automaton of a template. It has a bounded number of nodes for each variable and literal. */
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

  /** `item` again after each separator, for an item that is compiled with the given end. */
  loop(separator: string, next: number, item: (end: number) => number): number {
    const again = oneOf(separator, next);
    const start = item(this.choice(this.add(again), next));
    again.next = start;
    return start;
  }
}

/**
 * An expression writes its present variables in order: the first operator character, then variables with separators
 * between. Without a first character (`{x}`, `{+x}`) text and nothing cannot be told apart, so a variable is present.
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

/** A string or a list, under the name of the variable where the operator writes one. */
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

/** The pairs of an exploded associative array. A raw `=` is no value character, so one always belongs to a pair. */
function compilePairs(builder: Builder, operator: Operator, next: number): number {
  const units = { mask: UNRESERVED, extra: NO_CODE };
  const assigned = operator.named ? operator : { ifEmpty: '=' as const };
  return builder.loop(operator.separator, next, (end) =>
    compileValue(builder, units, undefined, compileAssignment(builder, assigned, units, undefined, end)),
  );
}

/** Compiles what follows a name: `=value`, with an empty value written as the operator says. */
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

/** A node for a single character, which a longer literal's search would be slow for. */
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
