/** Explains what is wrong with a configuration: the problems that were meant, their places, and the nearest valid keys. */

import { distance } from 'fastest-levenshtein';
import type { z } from 'zod';
import { isData } from '../protocol/data.ts';

export interface Explanation {
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

/**
 * All that is wrong, each once.
 * @param input what was checked against the schema
 * @param under the keys that lead to it in the configuration
 */
export function explain(
  error: Pick<z.ZodError, 'issues'>,
  schema: z.ZodType,
  input: unknown,
  under: readonly PropertyKey[] = [],
): readonly Explanation[] {
  const issues = likeliest(
    error.issues.flatMap((issue) => deepest(issue, schema, input)),
    input,
  );
  if (issues.length === 0) return [{ message: 'The configuration is not valid', path: [] }];
  return issues.flatMap((issue) => explanationsOf(issue, schema, input, under));
}

function explanationsOf(
  issue: Issue,
  schema: z.ZodType,
  input: unknown,
  under: readonly PropertyKey[],
): readonly Explanation[] {
  const place = [...under, ...issue.path];
  const where = place.map(String).join('.');
  if (issue.code !== 'unrecognized_keys')
    return [{ message: where === '' ? issue.message : `${where}: ${issue.message}`, path: place }];
  const given = at(input, issue.path);
  const kind = issue.path[0] === 'bus' ? BUS : MOUNT;
  const sources = isData(given) && under.length === 0 ? kind.sources.filter((each) => each in given) : [];
  const known = Object.keys(shapeOf(schemaAt(schema, input, issue.path)) ?? {});
  return issue.keys.map((key) => {
    const path = [...place, key];
    if (sources.some((each) => each === key))
      return { message: `${where} has ${sources.join(' and ')}; ${kind.rule}`, path };
    const nearest = nearestKey(key, known);
    const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
    return { message: `unknown key "${key}"${where === '' ? '' : ` in ${where}`}${hint}`, path };
  });
}

/** The keys that say what a mount is, or where a bus is. */
const MOUNT = { sources: ['path', 'command', 'url'], rule: 'a mount has one of path, command and url' } as const;
const BUS = { sources: ['url', 'sentinels', 'cluster'], rule: 'a bus has one of url, sentinels and cluster' } as const;

type Issue = z.core.$ZodIssue;

/** A key that nobody knows is the likeliest mistake: what is missing beside it may well be what it was meant to be. */
function likeliest(issues: readonly Issue[], input: unknown): readonly Issue[] {
  const mistyped = issues.filter((issue) => issue.code === 'unrecognized_keys').map(({ path }) => pathOf(path));
  return issues.filter(
    ({ code, path }) =>
      code === 'unrecognized_keys' || at(input, path) !== undefined || !mistyped.includes(pathOf(path.slice(0, -1))),
  );
}

const pathOf = (path: readonly PropertyKey[]): string => JSON.stringify(path.map(String));

/** Of a union, the problems of the branch that was meant. */
function deepest(issue: Issue, schema: z.ZodType, input: unknown): readonly Issue[] {
  if (issue.code === 'invalid_key') return [{ ...(issue.issues[0] ?? issue), path: issue.path } as Issue];
  if (issue.code !== 'invalid_union') return [issue];
  const within = (found: Issue, message = found.message): readonly Issue[] =>
    deepest({ ...found, message, path: [...issue.path, ...found.path] } as Issue, schema, input);
  const value = at(input, issue.path);
  const union = unionAt(schema, input, issue.path);
  const fit = isData(value) ? fitting(union, value) : undefined;
  const meant =
    fit !== undefined && union.length === issue.errors.length ? issue.errors[union.indexOf(fit)] : undefined;
  if (meant !== undefined && meant.length > 0) return likeliest(meant, value).flatMap((each) => within(each));
  const branches = issue.errors.map((errors) => likeliest(errors, value)[0]).filter((first) => first !== undefined);
  const found = furthest(branches);
  if (found === undefined) return [issue];
  const plain = branches.every((branch) => branch.code === 'invalid_type' && branch.path.length === 0);
  return within(found, plain ? [...new Set(branches.map((branch) => branch.message))].join(', or ') : undefined);
}

/** If the value does not say which branch it means, the one that got furthest counts. */
function furthest(branches: readonly Issue[]): Issue | undefined {
  const reached = (branch: Issue): number => branch.path.length * 2 + (branch.code === 'invalid_type' ? 0 : 1);
  return [...branches].sort((a, b) => reached(b) - reached(a))[0];
}

type Inner = {
  readonly def: {
    readonly type: string;
    readonly shape?: Readonly<Record<string, z.ZodType>>;
    readonly innerType?: z.ZodType;
    readonly options?: readonly z.ZodType[];
    readonly valueType?: z.ZodType;
    readonly element?: z.ZodType;
  };
};

const defOf = (schema: z.ZodType): Inner['def'] => (schema as unknown as Inner).def;
const shapeOf = (schema: z.ZodType | undefined): Inner['def']['shape'] =>
  schema === undefined ? undefined : defOf(schema).shape;

/** A schema without what wraps it, or the branches of a union. */
function unwrap(schema: z.ZodType): readonly z.ZodType[] {
  const def = defOf(schema);
  if (def.innerType !== undefined) return unwrap(def.innerType);
  return def.type === 'union' ? (def.options ?? []).flatMap(unwrap) : [schema];
}

/** The branch of a union that a value of this shape was meant for. */
function fitting(branches: readonly z.ZodType[], value: unknown): z.ZodType | undefined {
  if (!isData(value)) return branches[0];
  const ranked = branches.map((branch) => ({ branch, rank: closeness(shapeOf(branch), value) }));
  return ranked.sort((a, b) => b.rank - a.rank)[0]?.branch;
}

/** Keys that a branch needs weigh most, more so with a value that is right; then those that it knows, or nearly. */
function closeness(shape: Inner['def']['shape'], value: Readonly<Record<string, unknown>>): number {
  if (shape === undefined) return -1;
  const keys = Object.keys(value);
  const needed = Object.entries(shape).filter(([, each]) => !each.safeParse(undefined).success);
  const there = needed.filter(([key]) => key in value);
  const right = there.filter(([key, each]) => each.safeParse(value[key]).success);
  const known = keys.filter((key) => key in shape);
  const near = keys
    .filter((key) => !(key in shape))
    .flatMap((key) => needed.map(([candidate]) => distance(key.toLowerCase(), candidate.toLowerCase())))
    .map((far) => (far > 2 ? 0 : 2 / (1 + far)));
  return there.length * 4 + right.length * 4 + known.length + Math.max(0, ...near);
}

/** The branches at a place of the configuration. */
function unionAt(schema: z.ZodType, input: unknown, path: readonly PropertyKey[]): readonly z.ZodType[] {
  let branches = unwrap(schema);
  for (const [index, key] of path.entries()) {
    const inner = fitting(branches, at(input, path.slice(0, index)));
    const def = inner === undefined ? undefined : defOf(inner);
    const child = def?.shape?.[String(key)] ?? def?.valueType ?? def?.element;
    branches = child === undefined ? [] : unwrap(child);
  }
  return branches;
}

const schemaAt = (schema: z.ZodType, input: unknown, path: readonly PropertyKey[]): z.ZodType | undefined =>
  fitting(unionAt(schema, input, path), at(input, path));

const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key], value);

/** The key that was most likely meant; undefined when none is near. */
export function nearestKey(key: string, known: readonly string[]): string | undefined {
  const ranked = known.map((candidate) => ({ candidate, far: distance(key.toLowerCase(), candidate.toLowerCase()) }));
  const best = ranked.sort((a, b) => a.far - b.far)[0];
  return best !== undefined && best.far <= Math.max(2, key.length / 3) ? best.candidate : undefined;
}
