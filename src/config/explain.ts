/** Explains what is wrong with a configuration: the likeliest problems, their places, and the nearest valid keys. */

import { distance } from 'fastest-levenshtein';
import type { z } from 'zod';
import { isData } from '../protocol/data.ts';

export interface Explanation {
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

/**
 * Returns the likeliest problems of a value that its schema rejects.
 * @param input the value that was checked against the schema
 * @param under the keys that lead to this value in the configuration
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
  const value = at(input, issue.path);
  const kind = issue.path[0] === 'bus' ? BUS : MOUNT;
  const sources = isData(value) && under.length === 0 ? kind.sources.filter((source) => source in value) : [];
  const validKeys = Object.keys(shapeOf(schemaAt(schema, input, issue.path)) ?? {});
  return issue.keys.map((key) => {
    const path = [...place, key];
    if (sources.some((source) => source === key))
      return { message: `${where} has ${sources.join(' and ')}; ${kind.rule}`, path };
    const nearest = nearestKey(key, validKeys);
    const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
    return { message: `unknown key "${key}"${where === '' ? '' : ` in ${where}`}${hint}`, path };
  });
}

/** Keys of which a mount, or a bus, has one at most. */
const MOUNT = { sources: ['path', 'command', 'url'], rule: 'a mount has one of path, command and url' } as const;
const BUS = { sources: ['url', 'sentinels', 'cluster'], rule: 'a bus has one of url, sentinels and cluster' } as const;

type Issue = z.core.$ZodIssue;

/** Drops complaints of a missing key beside an unknown one: the unknown key is probably the missing one, mistyped. */
function likeliest(issues: readonly Issue[], input: unknown): readonly Issue[] {
  const mistyped = issues.filter((issue) => issue.code === 'unrecognized_keys').map(({ path }) => pathOf(path));
  return issues.filter(
    ({ code, path }) =>
      code === 'unrecognized_keys' || at(input, path) !== undefined || !mistyped.includes(pathOf(path.slice(0, -1))),
  );
}

const pathOf = (path: readonly PropertyKey[]): string => JSON.stringify(path.map(String));

/** Returns the problems that an issue stands for: for a union, those of the branch that was probably meant. */
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
  if (meant !== undefined && meant.length > 0) return likeliest(meant, value).flatMap((inner) => within(inner));
  const branches = issue.errors.map((errors) => likeliest(errors, value)[0]).filter((first) => first !== undefined);
  const found = furthest(branches);
  if (found === undefined) return [issue];
  const plain = branches.every((branch) => branch.code === 'invalid_type' && branch.path.length === 0);
  return within(found, plain ? [...new Set(branches.map((branch) => branch.message))].join(', or ') : undefined);
}

/** Returns the problem that lies deepest in the value, for a value that does not say which branch it means. */
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

/** Returns a schema without its wrappers, or the branches of a union. */
function unwrap(schema: z.ZodType): readonly z.ZodType[] {
  const def = defOf(schema);
  if (def.innerType !== undefined) return unwrap(def.innerType);
  return def.type === 'union' ? (def.options ?? []).flatMap(unwrap) : [schema];
}

/** Returns the branch of a union that fits the value best. */
function fitting(branches: readonly z.ZodType[], value: unknown): z.ZodType | undefined {
  if (!isData(value)) return branches[0];
  const ranked = branches.map((branch) => ({ branch, rank: closeness(shapeOf(branch), value) }));
  return ranked.sort((a, b) => b.rank - a.rank)[0]?.branch;
}

/**
 * Rates how well a value fits a branch: required keys weigh most, more so if their value is valid, then known keys, then similar
 * ones.
 */
function closeness(shape: Inner['def']['shape'], value: Readonly<Record<string, unknown>>): number {
  if (shape === undefined) return -1;
  const keys = Object.keys(value);
  const needed = Object.entries(shape).filter(([, field]) => !field.safeParse(undefined).success);
  const present = needed.filter(([key]) => key in value);
  const valid = present.filter(([key, field]) => field.safeParse(value[key]).success);
  const known = keys.filter((key) => key in shape);
  const near = keys
    .filter((key) => !(key in shape))
    .flatMap((key) => needed.map(([candidate]) => distance(key.toLowerCase(), candidate.toLowerCase())))
    .map((far) => (far > 2 ? 0 : 2 / (1 + far)));
  return present.length * 4 + valid.length * 4 + known.length + Math.max(0, ...near);
}

/** Returns the branches of the schema at a place of the configuration. */
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

/** Returns the valid key that was most likely meant; undefined when none is near. */
export function nearestKey(key: string, validKeys: readonly string[]): string | undefined {
  const ranked = validKeys.map((candidate) => ({
    candidate,
    far: distance(key.toLowerCase(), candidate.toLowerCase()),
  }));
  const best = ranked.sort((a, b) => a.far - b.far)[0];
  return best !== undefined && best.far <= Math.max(2, key.length / 3) ? best.candidate : undefined;
}
