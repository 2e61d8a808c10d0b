/** Reads a configuration file; a mistake is reported with its line, what was expected, and the nearest valid key. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { distance } from 'fastest-levenshtein';
import { type Document, isMap, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import type { z } from 'zod';
import { ConfigError } from './error.ts';
import { type Config, config } from './schema.ts';

/** The largest configuration that is read, in bytes. */
const MAX_CONFIG_BYTES = 1024 * 1024;

/** @throws ConfigError with file, line and column */
export async function loadConfig(path: string): Promise<Config> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new ConfigError(unreadable(path, (cause as NodeJS.ErrnoException).code), { cause });
  }
  return parseConfig(text, basename(path));
}

function unreadable(path: string, code: string | undefined): string {
  if (code === 'EISDIR') return `${path} is a folder; name the configuration in it, as in ${path}/vitrine.yaml`;
  if (code === 'ENOENT' || code === 'ENOTDIR') return `There is no configuration at ${path}`;
  return `The configuration at ${path} may not be read; give this user the right to`;
}

/** @param file how the configuration is called in errors */
export function parseConfig(text: string, file: string): Config {
  if (Buffer.byteLength(text) > MAX_CONFIG_BYTES)
    throw new ConfigError(`${file}: a configuration has at most ${MAX_CONFIG_BYTES} bytes`);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const broken = document.errors[0];
  if (broken !== undefined) {
    const { line, col } = lines.linePos(broken.pos[0]);
    const several = broken.code === 'MULTIPLE_DOCS';
    const problem = several ? 'A configuration is one document; remove what follows "---"' : broken.message;
    throw new ConfigError(`${file}:${line}:${col}: ${problem}`);
  }
  const result = config.safeParse(contentOf(document, file) ?? {});
  if (result.success) return result.data;
  const { message, path } = explain(result.error);
  const at = positionOf(document, path, lines);
  throw new ConfigError(`${file}${at}: ${message}`);
}

function contentOf(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    // An alias without its anchor, or more of them than a configuration needs.
    throw new ConfigError(`${file}: ${(cause as Error).message}`, { cause });
  }
}

interface Explanation {
  readonly message: string;
  readonly path: readonly PropertyKey[];
}

function explain(error: z.ZodError): Explanation {
  const issues = error.issues.map(deepest).sort((a, b) => b.path.length - a.path.length);
  const issue = mistyped(issues);
  if (issue === undefined) return { message: 'The configuration is not valid', path: [] };
  const where = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const nearest = nearestKey(key, knownKeys(issue.path));
    return {
      message: `unknown key "${key}"${where === '' ? '' : ` in ${where}`}${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`,
      path: [...issue.path, key],
    };
  }
  return { message: where === '' ? issue.message : `${where}: ${issue.message}`, path: issue.path };
}

/** A key that nobody knows is the likeliest mistake: what is missing may well be what it was meant to be. */
function mistyped(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  return issues.find((issue) => issue.code === 'unrecognized_keys') ?? issues[0];
}

/** Of a union, the problem of the branch that was meant: the one that got furthest. */
function deepest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code === 'invalid_key') return { ...(issue.issues[0] ?? issue), path: issue.path } as z.core.$ZodIssue;
  if (issue.code !== 'invalid_union') return issue;
  const branches = issue.errors.map(mistyped).filter((first) => first !== undefined);
  const reached = (branch: z.core.$ZodIssue): number =>
    branch.path.length * 2 + (branch.code === 'invalid_type' ? 0 : 1);
  const meant = [...branches].sort((a, b) => reached(b) - reached(a))[0];
  if (meant === undefined) return issue;
  const message = branches.every((branch) => branch.code === 'invalid_type' && branch.path.length === 0)
    ? branches.map((branch) => branch.message).join(', or ')
    : meant.message;
  return deepest({ ...meant, message, path: [...issue.path, ...meant.path] } as z.core.$ZodIssue);
}

/** The keys that are valid at a place of the configuration. */
function knownKeys(path: readonly PropertyKey[]): readonly string[] {
  let schemas: readonly z.ZodType[] = [config];
  for (const key of path) schemas = schemas.flatMap((schema) => childSchemas(schema, key));
  return schemas.flatMap((schema) => Object.keys(shapeOf(schema) ?? {}));
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

function unwrap(schema: z.ZodType): readonly z.ZodType[] {
  const def = defOf(schema);
  if (def.innerType !== undefined) return unwrap(def.innerType);
  return def.type === 'union' ? (def.options ?? []).flatMap(unwrap) : [schema];
}

function childSchemas(schema: z.ZodType, key: PropertyKey): readonly z.ZodType[] {
  return unwrap(schema).flatMap((each) => {
    const def = defOf(each);
    const child = def.shape?.[String(key)] ?? def.valueType ?? def.element;
    return child === undefined ? [] : unwrap(child);
  });
}

function shapeOf(schema: z.ZodType): Readonly<Record<string, z.ZodType>> | undefined {
  return unwrap(schema)
    .map((each) => defOf(each).shape)
    .find((shape) => shape !== undefined);
}

function nearestKey(key: string, known: readonly string[]): string | undefined {
  const ranked = known.map((candidate) => ({ candidate, far: distance(key.toLowerCase(), candidate.toLowerCase()) }));
  const best = ranked.sort((a, b) => a.far - b.far)[0];
  return best !== undefined && best.far <= Math.max(2, key.length / 3) ? best.candidate : undefined;
}

/** `:line:column` of the key or value at a path, or of the last part of the path that exists. */
function positionOf(document: Document, path: readonly PropertyKey[], lines: LineCounter): string {
  let node: Node | null = document.contents as Node | null;
  let offset = node?.range?.[0];
  for (const key of path) {
    if (!isMap(node)) {
      const next: unknown = document.getIn([...path.slice(0, path.indexOf(key) + 1)], true);
      if (typeof next !== 'object' || next === null || !('range' in next)) break;
      node = next as Node;
      offset = node.range?.[0] ?? offset;
      continue;
    }
    const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
    if (pair === undefined) break;
    if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
    node = pair.value as Node | null;
  }
  if (offset === undefined) return '';
  const { line, col } = lines.linePos(offset);
  return `:${line}:${col}`;
}
