/** Turns the configuration into entries: each is a program at one path, or at all paths of a template. */
import { basename, resolve } from 'node:path';
import { invalid } from '../../core/errors.ts';
import { mimeTypeOfName } from '../../core/formats/mime-type.ts';
import { encodeSegment, nameProblem, treeUri } from '../../core/uri.ts';
import type { Resource, ResourceTemplate } from '../../protocol/resources.ts';
import { type CommandBlock, type CommandOptions, MAX_BYTES, PASSED_ENV, TIMEOUT_SECONDS } from './config.ts';
import { argumentOf, compileVariable, type Part, partsOf, type Values, type Variable } from './variables.ts';

export const SCHEME = 'command';

/** One program of `run` in the configuration, with its path. */
export interface Entry {
  /** As configured, such as `log/{service}.txt`. */
  readonly path: string;
  /** The segments of the path. Each has at most one variable, which may have text before and after it. */
  readonly segments: readonly (readonly Part[])[];
  readonly variables: ReadonlyMap<string, Variable>;
  readonly argv: readonly (readonly Part[])[];
  readonly follow: readonly (readonly Part[])[] | undefined;
  readonly block: CommandBlock;
  readonly place: ProgramPlace;
}

/** The directory, the environment and the limits that a program runs with. */
export interface ProgramPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** A program with all values in place. */
export interface Program extends ProgramPlace {
  readonly argv: readonly string[];
  /** Milliseconds for which an output is used again. */
  readonly ttlMs: number;
}

/** One resource: an entry with values for its variables. */
export interface Instance {
  readonly uri: string;
  readonly entry: Entry;
  readonly program: Program;
  /** The program that runs while somebody watches. */
  readonly follow: Program | undefined;
  readonly watchMs: number | undefined;
}

/** Returns the entries of a configuration. @throws ResourceError `invalid` that names the path and what is wrong with it */
export async function entriesOf(options: CommandOptions): Promise<readonly Entry[]> {
  const { run } = options;
  const byPath: Readonly<Record<string, readonly string[] | CommandBlock>> = Array.isArray(run)
    ? { [basename(run[0] ?? '')]: run }
    : run;
  const entries: Entry[] = [];
  for (const [path, configured] of Object.entries(byPath)) {
    const block: CommandBlock = Array.isArray(configured) ? { argv: [...configured] } : (configured as CommandBlock);
    try {
      entries.push(await entryOf(path, block, options));
    } catch (error) {
      throw invalid(`${path}: ${(error as Error).message}`);
    }
  }
  assertApart(entries);
  return entries;
}

async function entryOf(path: string, block: CommandBlock, options: CommandOptions): Promise<Entry> {
  const variables = new Map<string, Variable>();
  for (const [name, allowed] of Object.entries(block.variables ?? {}))
    variables.set(name, await compileVariable(name, allowed));
  const segments = path.split('/').map((segment) => partsOf(segment, variables));
  assertPath(path, segments, variables);
  const [program = ''] = block.argv;
  if (partsOf(program, variables).some((part) => 'variable' in part))
    throw invalid('A variable cannot name the program');
  const passed = (options.passEnv ?? PASSED_ENV).flatMap((name) => {
    const value = (options.environment ?? process.env)[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const cwd = resolve(options.cwd ?? '.');
  return {
    path,
    segments,
    variables,
    argv: block.argv.map((argument) => partsOf(argument, variables)),
    follow: block.follow?.map((argument) => partsOf(argument, variables)),
    block,
    place: {
      cwd: block.cwd === undefined ? cwd : resolve(cwd, block.cwd),
      env: { ...Object.fromEntries(passed), ...options.env, ...block.env },
      timeoutMs: (block.timeoutSeconds ?? options.timeoutSeconds ?? TIMEOUT_SECONDS) * 1_000,
      maxBytes: block.maxBytes ?? options.maxBytes ?? MAX_BYTES,
    },
  };
}

function assertPath(
  path: string,
  segments: readonly (readonly Part[])[],
  variables: ReadonlyMap<string, Variable>,
): void {
  const used: string[] = [];
  for (const parts of segments) {
    const named = parts.flatMap((part) => ('variable' in part ? [part.variable.name] : []));
    if (named.length > 1) throw invalid('A path may have only one variable between two slashes');
    used.push(...named);
    const text = parts.map((part) => ('text' in part ? part.text : 'x')).join('');
    const problem = nameProblem(text);
    if (problem !== undefined) throw invalid(problem);
    if (/[{}]/.test(text)) throw invalid('Braces in a path may only hold the name of a variable from variables');
  }
  if (new Set(used).size < used.length) throw invalid('A path may have each variable only once');
  const missing = [...variables.keys()].find((name) => !used.includes(name));
  if (missing !== undefined) throw invalid(`The variable "${missing}" is not in ${path}`);
}

/** Refuses a path that lies below the path of another program. */
function assertApart(entries: readonly Entry[]): void {
  const literal = entries.filter(({ variables }) => variables.size === 0).map(({ path }) => path);
  for (const path of literal) {
    const below = literal.find((other) => other.startsWith(`${path}/`));
    if (below !== undefined) throw invalid(`${below}: ${path} is a program, so nothing can be below it`);
  }
}

export const isTemplate = (entry: Entry): boolean => entry.variables.size > 0;

/** Returns the resource at a path, made by the first entry that matches. Entries without variables are tried first. */
export function instanceAt(entries: readonly Entry[], segments: readonly string[]): Instance | undefined {
  for (const templates of [false, true]) {
    for (const entry of entries) {
      const values = isTemplate(entry) === templates ? valuesIn(entry, segments) : undefined;
      const instance = values === undefined ? undefined : instanceOf(entry, segments, values);
      if (instance !== undefined) return instance;
    }
  }
  return undefined;
}

/** Returns the values of the variables in a path; undefined if the path does not match the entry. */
function valuesIn(entry: Entry, segments: readonly string[]): Values | undefined {
  if (entry.segments.length !== segments.length) return undefined;
  const values = new Map<string, string>();
  for (const [index, parts] of entry.segments.entries()) {
    const at = parts.findIndex((part) => 'variable' in part);
    const part = parts[at];
    const name = segments[index] ?? '';
    const before = textOf(parts.slice(0, at === -1 ? undefined : at));
    if (part === undefined || 'text' in part) {
      if (name !== before) return undefined;
      continue;
    }
    const after = textOf(parts.slice(at + 1));
    if (name.length < before.length + after.length || !name.startsWith(before) || !name.endsWith(after))
      return undefined;
    const value = name.slice(before.length, name.length - after.length);
    if (!part.variable.accepts(value)) return undefined;
    values.set(part.variable.name, value);
  }
  return values;
}

const textOf = (parts: readonly Part[]): string => parts.map((part) => ('text' in part ? part.text : '')).join('');

/** Returns undefined if a value would make an argument look like an option that is not allowed (`argumentOf`). */
function instanceOf(entry: Entry, segments: readonly string[], values: Values): Instance | undefined {
  const argv = argumentsOf(entry.argv, values);
  const follow = entry.follow === undefined ? undefined : argumentsOf(entry.follow, values);
  if (argv === undefined || (follow === undefined && entry.follow !== undefined)) return undefined;
  const { watch, ttlSeconds = 0 } = entry.block;
  const ttlMs = ttlSeconds * 1_000;
  return {
    uri: treeUri(SCHEME, segments),
    entry,
    program: { ...entry.place, argv, ttlMs },
    follow: follow === undefined ? undefined : { ...entry.place, argv: follow, ttlMs },
    watchMs: watch === undefined ? undefined : watch.everySeconds * 1_000,
  };
}

function argumentsOf(argv: readonly (readonly Part[])[], values: Values): readonly string[] | undefined {
  const all = argv.map((parts) => argumentOf(parts, values));
  return all.includes(undefined) ? undefined : all.filter((argument) => argument !== undefined);
}

export function resourceOf({ uri, entry: { block } }: Instance, name: string): Resource {
  const mimeType = block.mimeType ?? mimeTypeOfName(name);
  return {
    uri,
    name,
    ...(block.title !== undefined && { title: block.title }),
    ...(block.description !== undefined && { description: block.description }),
    ...(mimeType !== undefined && { mimeType }),
    capabilities: { list: false, subscribe: block.watch !== undefined || block.follow !== undefined },
  };
}

export function templateOf({ path, segments, block }: Entry): ResourceTemplate {
  const encoded = segments.map((parts) =>
    parts.map((part) => ('text' in part ? encodeSegment(part.text) : `{${part.variable.name}}`)).join(''),
  );
  const mimeType = block.mimeType ?? mimeTypeOfName(path.slice(path.lastIndexOf('/') + 1));
  return {
    uriTemplate: `${SCHEME}:///${encoded.join('/')}`,
    name: path,
    ...(block.title !== undefined && { title: block.title }),
    ...(block.description !== undefined && { description: block.description }),
    ...(mimeType !== undefined && { mimeType }),
  };
}
