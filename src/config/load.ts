/** Reads a configuration, or the file of a host. Errors give the line of each mistake and the expected value. */

import { createReadStream } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { type Document, isMap, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import type { z } from 'zod';
import { isData } from '../protocol/data.ts';
import { ConfigError } from './error.ts';
import { type Explanation, explain, nearestKey } from './explain.ts';
import type { PluggedKinds } from './plug-ins/load.ts';
import { hasPlugInMounts } from './plug-ins/mounts.ts';
import { type Environment, resolveReferences } from './references.ts';
import { type Config, config, type HostFile, hostFile } from './schema.ts';
import { createSecrets, type Secrets } from './secrets.ts';

export { hostServersOf } from './host-servers.ts';

/** The largest configuration that is read, in bytes. */
const MAX_CONFIG_BYTES = 1024 * 1024;

/** The environment that references are looked up in, and the secrets that take their values. */
export interface LoadOptions {
  /** Default: the environment of this process. */
  readonly env?: Environment | undefined;
  /** Takes the values of references, to hide them later. */
  readonly secrets?: Secrets | undefined;
}

/**
 * Reads a configuration and runs nothing: settings of plug-ins are not checked.
 * @throws ConfigError with file, line and column
 */
export async function loadConfig(path: string, options: LoadOptions = {}): Promise<Config> {
  return parseConfig(await textOf(path, 'vitrine.yaml'), basename(path), options);
}

/**
 * Reads a configuration. If a mount has a `kind`, also loads all packages under `kinds`, and checks the settings of such mounts.
 * @throws ConfigError with file, line and column
 */
export async function loadPlugged(
  path: string,
  options: LoadOptions = {},
): Promise<{ readonly config: Config; readonly plugged: PluggedKinds }> {
  const written = readText(await textOf(path, 'vitrine.yaml'), basename(path), options);
  if (!hasPlugInMounts(written.content)) return { config: checked(config, written), plugged: new Map() };
  const { loadKinds, settingsProblems } = await import('./plug-ins/load.ts');
  const { plugged, problems } = await loadKinds(written.content, dirname(resolve(path)));
  // If a package is missing, the settings of its mounts cannot be checked.
  const more = problems.length > 0 ? problems : await settingsProblems(written.content, plugged);
  return { config: checked(config, written, more), plugged };
}

/** Reads a file with `mcpServers`, or VS Code's `servers`. @throws ConfigError with file, line and column */
export async function loadHostFile(path: string, options: LoadOptions = {}): Promise<HostFile> {
  return parseHostFile(await textOf(path, 'mcp.json'), basename(path), options);
}

async function textOf(path: string, example: string): Promise<string> {
  try {
    // One byte more than may be there shows that the file is too large.
    return await readAll(createReadStream(path, { end: MAX_CONFIG_BYTES }));
  } catch (cause) {
    throw new ConfigError(unreadable(path, cause as NodeJS.ErrnoException, example), { cause });
  }
}

function unreadable(path: string, { code, message }: NodeJS.ErrnoException, example: string): string {
  if (code === 'EISDIR') return `${path} is a folder; name the configuration in it, as in ${path}/${example}`;
  if (code === 'ENOENT' || code === 'ENOTDIR') return `There is no configuration at ${path}`;
  if (code === 'EACCES' || code === 'EPERM')
    return `The configuration at ${path} may not be read; give this user the right to`;
  return `The configuration at ${path} cannot be read: ${code ?? message}`;
}

/** @param file the name of the configuration in errors. @throws ConfigError */
export const parseConfig = (text: string, file: string, options: LoadOptions = {}): Config =>
  parseAs(config, text, file, options);

/** @param file the name of the file in errors. @throws ConfigError */
export const parseHostFile = (text: string, file: string, options: LoadOptions = {}): HostFile =>
  parseAs(hostFile, withoutComments(text), file, options);

const parseAs = <S extends z.ZodType>(schema: S, text: string, file: string, options: LoadOptions): z.infer<S> =>
  checked(schema, readText(text, file, options));

/** A file as it is written, before its schema checks it. */
interface Written {
  /** Its data, with the values of its references. */
  readonly content: unknown;
  /** The problems with references and servers. */
  readonly problems: readonly Explanation[];
  /** Makes an error of problems, with the place of each in the file. */
  readonly error: (problems: readonly Explanation[]) => ConfigError;
}

/** @throws ConfigError for a file that is too large or not YAML */
function readText(text: string, file: string, options: LoadOptions): Written {
  if (Buffer.byteLength(text) > MAX_CONFIG_BYTES)
    throw new ConfigError(`${file}: a configuration has at most ${MAX_CONFIG_BYTES} bytes`);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const broken = document.errors[0];
  if (broken !== undefined) {
    const several = broken.code === 'MULTIPLE_DOCS';
    const problem = several ? 'A configuration is one document; remove what follows "---"' : broken.message;
    throw new ConfigError(`${file}${placeOf(lines, broken.pos[0])}: ${problem}`);
  }
  const problems: Explanation[] = [];
  const content = resolved(withoutDisabled(contentOf(document, file) ?? {}, problems), options, problems);
  return { content, problems, error: (found) => new ConfigError(allOf(found, document, lines, file)) };
}

/** @param more problems that the schema does not find. @throws ConfigError */
function checked<S extends z.ZodType>(
  schema: S,
  { content, problems, error }: Written,
  more: readonly Explanation[] = [],
): z.infer<S> {
  const result = schema.safeParse(content);
  if (result.success && problems.length + more.length === 0) return result.data;
  // If the schema rejects a value that is a problem already, this is not reported a second time.
  const others = [...more, ...(result.success ? [] : explain(result.error, schema, content))];
  throw error([...problems, ...others.filter((other) => !problems.some(({ path }) => isBelow(other.path, path)))]);
}

const isBelow = (path: readonly PropertyKey[], above: readonly PropertyKey[]): boolean =>
  above.every((key, at) => String(path[at]) === String(key));

/** The most mistakes in one error. */
const MAX_REPORTED = 20;

/** Returns a line for each problem, with its place, in the order of the file. */
function allOf(problems: readonly Explanation[], document: Document, lines: LineCounter, file: string): string {
  const placed = problems.map(({ path, message }) => ({ message, offset: offsetOf(document, path) }));
  const reported = [...new Map(placed.map((problem) => [`${problem.offset} ${problem.message}`, problem])).values()]
    .sort((a, b) => (a.offset ?? 0) - (b.offset ?? 0))
    .map(({ message, offset }) => `${file}${offset === undefined ? '' : placeOf(lines, offset)}: ${message}`);
  const more = reported.length - MAX_REPORTED;
  return [...reported.slice(0, MAX_REPORTED), ...(more > 0 ? [`${file}: and ${more} more`] : [])].join('\n');
}

/** Returns the place of an offset, as `:line:column`. */
function placeOf(lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `:${line}:${col}`;
}

function contentOf(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    // An alias without its anchor, or more of them than a configuration needs.
    throw new ConfigError(`${file}: ${(cause as Error).message}`, { cause });
  }
}

const resolved = (content: unknown, { env, secrets }: LoadOptions, problems: Explanation[]): unknown =>
  resolveReferences(content, env ?? process.env, secrets ?? createSecrets(), (path, message) =>
    problems.push({ path, message: `${path.map(String).join('.')}: ${message}` }),
  );

/** Leaves out disabled servers, which need not be valid. Reports servers that have neither a command nor a URL. */
function withoutDisabled(content: unknown, problems: Explanation[]): unknown {
  if (!isData(content)) return content;
  const sections = ['mcpServers', 'servers'].flatMap((key) => {
    const section = content[key];
    if (!isData(section)) return [];
    const entries = Object.entries(section).filter(([, entry]) => !isData(entry) || entry.disabled !== true);
    for (const [name, entry] of entries) {
      if (!isData(entry) || 'command' in entry || 'url' in entry) continue;
      const typed = Object.keys(entry).find((key) => nearestKey(key, ['command', 'url']) !== undefined);
      const hint = typed === undefined ? '' : `; did you mean "${nearestKey(typed, ['command', 'url'])}"?`;
      const unknown = typed === undefined ? '' : `, and an unknown key "${typed}"`;
      problems.push({ path: [key, name], message: `${key}.${name}: has neither command nor url${unknown}${hint}` });
    }
    return [[key, Object.fromEntries(entries)] as const];
  });
  return { ...content, ...Object.fromEntries(sections) };
}

/** Replaces comments in JSON, which editors allow, by spaces, so that lines and columns stay the same. */
const withoutComments = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (found) =>
    found.startsWith('"') ? found : found.replace(/[^\n]/g, ' '),
  );

/** Returns the offset of the key or value at a path, or of the last part of the path that exists. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number | undefined {
  let node: Node | null = document.contents as Node | null;
  let offset = node?.range?.[0];
  for (const [index, key] of path.entries()) {
    if (!isMap(node)) {
      const next: unknown = document.getIn([...path.slice(0, index + 1)], true);
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
  return offset;
}
