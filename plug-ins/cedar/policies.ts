/** Takes the text of policies apart: the name of each policy, and its effect when it matches. */
import { type AccessEffect, invalid } from 'vitrine/plug-in';
import type { Engine, Mistake } from './engine.ts';
import { wordsOf } from './engine.ts';

/** A policy in Cedar's JSON. */
export type PolicyJson = Extract<ReturnType<Engine['policyToJson']>, { type: 'success' }>['json'];

/** A policy with its name and effect. */
export interface CedarRule {
  /** The value of the annotation `@id`, or else the place of the policy, as in `policy of line 12`. */
  readonly name: string;
  readonly effect: AccessEffect;
  /** Milliseconds that the answer of a human to an `ask` stays valid; from the annotation `@remember`. */
  readonly rememberMs: number | undefined;
  readonly json: PolicyJson;
}

/**
 * Returns the policies in the order of the text, by the keys that Cedar is given.
 * @param file the name of the text in error messages
 * @throws ResourceError `invalid` for a text that is not Cedar, for templates, and for annotations that make no sense
 */
export function parsePolicies(cedar: Engine, text: string, file: string): ReadonlyMap<string, CedarRule> {
  const parts = cedar.policySetTextToParts(text);
  if (parts.type === 'failure') throw wrongPolicy(text, file, parts.errors);
  const places = placesIn(text);
  const placed = (policy: string): number => places.get(policy)?.shift() ?? text.indexOf(policy);
  const [template] = parts.policy_templates;
  if (template !== undefined)
    throw invalid(
      `${file}${placeOf(text, placed(template))}: a template has nothing to fill its slots; write the policy for each`,
    );
  const found = parts.policies.map((policy) => ({ policy, at: placed(policy) })).sort((a, b) => a.at - b.at);
  return new Map(found.map(({ policy, at }, index) => [`p${index}`, ruleOf(cedar, policy, { text, file, at })]));
}

/** Matches the parts of Cedar that may hold a semicolon which ends no policy, and all that is between them. */
const SIGNS = /"(?:\\.|[^"\\])*"|\/\/[^\n\r]*|;|\/|[^\s;"/]+/gs;

/** Returns the places of each policy and template, by its text. */
function placesIn(text: string): ReadonlyMap<string, number[]> {
  const places = new Map<string, number[]>();
  let start: number | undefined;
  for (const { 0: sign, index } of text.matchAll(SIGNS)) {
    if (sign.startsWith('//')) continue;
    start ??= index;
    if (sign !== ';') continue;
    const policy = text.slice(start, index + 1);
    const at = places.get(policy) ?? [];
    at.push(start);
    places.set(policy, at);
    start = undefined;
  }
  return places;
}

interface Place {
  readonly text: string;
  readonly file: string;
  readonly at: number;
}

function ruleOf(cedar: Engine, policy: string, { text, file, at }: Place): CedarRule {
  const parsed = cedar.policyToJson(policy);
  if (parsed.type === 'failure') throw wrongPolicy(text, file, parsed.errors, at);
  const { json } = parsed;
  const { id, effect: annotated, remember, ...others } = json.annotations ?? {};
  const problem = problemOf(json.effect, annotated, remember, others);
  if (problem !== undefined) throw invalid(`${file}${placeOf(text, at)}: ${problem}`);
  const effect = effectOf(json.effect, annotated);
  return {
    name: id ?? `policy of line ${lineOf(text, at).line}`,
    effect,
    rememberMs: remember === undefined ? undefined : Number(remember) * 1_000,
    json,
  };
}

function effectOf(effect: PolicyJson['effect'], annotated: string | undefined): AccessEffect {
  if (effect === 'permit') return annotated === 'ask' ? 'ask' : 'allow';
  return annotated === 'hide' ? 'hide' : 'deny';
}

/** The values that the annotation `@effect` may have. */
const EFFECTS = { permit: ['allow', 'ask'], forbid: ['deny', 'hide'] } as const;

function problemOf(
  effect: PolicyJson['effect'],
  annotated: string | undefined,
  remember: string | undefined,
  others: object,
): string | undefined {
  if (annotated !== undefined && !EFFECTS[effect].some((allowed) => allowed === annotated))
    return `@effect of ${effect} is ${EFFECTS[effect].join(' or ')}, not ${JSON.stringify(annotated)}`;
  if (remember !== undefined && annotated !== 'ask')
    return '@remember needs @effect("ask"): add that, or remove @remember';
  if (remember !== undefined && !/^\d{1,9}$/.test(remember)) return '@remember is in seconds, as in @remember("600")';
  const wrong = Object.keys(others).find((name) => ['effects', 'remembers', 'rememberSeconds'].includes(name));
  return wrong === undefined ? undefined : `there is no @${wrong}; the annotations are @id, @effect and @remember`;
}

/** @param from the place of the policy, if the mistakes are in one policy of the text */
function wrongPolicy(text: string, file: string, [first]: readonly Mistake[], from?: number): Error {
  const bytes = first?.sourceLocations?.[0]?.start;
  const begin = Math.max(0, from ?? 0);
  const at = bytes === undefined ? from : begin + Buffer.from(text.slice(begin)).subarray(0, bytes).toString().length;
  return invalid(`${file}${placeOf(text, at)}: ${first === undefined ? 'this is not Cedar' : wordsOf(first)}`);
}

const placeOf = (text: string, at: number | undefined): string => {
  if (at === undefined || at < 0) return '';
  const { line, column } = lineOf(text, at);
  return `:${line}:${column}`;
};

function lineOf(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
