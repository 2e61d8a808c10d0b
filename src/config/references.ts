/**
 * Replaces references to the environment in a configuration: `${NAME}`, `${NAME:-default}`, and `${env:NAME}` as VS Code writes
 * it. `$${` stands for `${`.
 */
import { isData } from '../protocol/data.ts';
import type { Secrets } from './secrets.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The keys of a mount's or server's block whose texts may have references. */
const REFERRING: ReadonlySet<string> = new Set([
  ...['command', 'args', 'env', 'cwd', 'url', 'headers', 'auth'],
  ...['s3', 'endpoint', 'region', 'profile', 'accessKeyId', 'secretAccessKey', 'sessionToken'],
  ...['http', 'query'],
  'sql',
  'run',
]);

/** The keys of a plug-in's block that have no references. All other keys are its own settings, and may have them. */
const OF_EVERY_MOUNT: ReadonlySet<string> = new Set(['kind', 'prefix', 'icons', 'forms', 'skills', 'index']);

const REFERENCE = /\$\$\{|\$\{([^}]*)\}/g;
const VARIABLE = /^(?:env:)?(?<name>[A-Za-z_][A-Za-z0-9_]*)(?<default>:-(?<value>[\s\S]*))?$/;

/**
 * Replaces the references in a configuration that is not validated yet. A reference without a value stays as it is.
 * @param problem is called for each of these, and for each `${…}` that is no valid reference; never with a value of the
 *   environment
 */
export function resolveReferences(
  content: unknown,
  env: Environment,
  secrets: Secrets,
  problem: (path: readonly PropertyKey[], message: string) => void,
): unknown {
  if (!isData(content)) return content;
  const resolveText = (text: string, path: readonly PropertyKey[]): string =>
    text.replaceAll(REFERENCE, (all: string, inner: string | undefined) =>
      inner === undefined ? '${' : referenced(all, inner, path),
    );

  function referenced(all: string, inner: string, path: readonly PropertyKey[]): string {
    const { name, default: fallback, value = '' } = VARIABLE.exec(inner)?.groups ?? {};
    if (name === undefined) {
      problem(path, `${all} ${unknownReference(inner)}`);
      return all;
    }
    const found = env[name];
    if (found !== undefined && (found !== '' || fallback === undefined)) {
      secrets.add(name, found);
      return found;
    }
    if (fallback !== undefined) return value;
    problem(
      path,
      `the environment variable ${name} is not set; set it, or give a default, as in ${written(`${name}:-default`)}`,
    );
    return all;
  }

  const resolve = (value: unknown, path: readonly PropertyKey[]): unknown => {
    if (typeof value === 'string') return resolveText(value, path);
    if (Array.isArray(value)) return value.map((item, index) => resolve(item, [...path, index]));
    return isData(value) ? mapValues(value, (field, key) => resolve(field, [...path, key])) : value;
  };
  const inBlock = (block: unknown, path: readonly PropertyKey[]): unknown => {
    if (typeof block === 'string') return hasScheme(block) ? resolve(block, path) : block;
    if (!isData(block)) return block;
    const isPlugged = path[0] === 'mounts' && 'kind' in block;
    const refers = (key: string): boolean => (isPlugged ? !OF_EVERY_MOUNT.has(key) : REFERRING.has(key));
    return mapValues(block, (field, key) => (refers(key) ? resolve(field, [...path, key]) : field));
  };
  const inIssuer = (issuer: unknown, index: number): unknown =>
    isData(issuer) && isData(issuer.introspection)
      ? { ...issuer, introspection: resolve(issuer.introspection, ['auth', 'issuers', index, 'introspection']) }
      : issuer;
  return mapValues(content, (section, key) => {
    if (key === 'index' || key === 'keys' || key === 'bus') return resolve(section, [key]);
    if (!isData(section)) return section;
    if (SECTIONS.has(key)) return mapValues(section, (block, name) => inBlock(block, [key, name]));
    const { tls } = section;
    if (key === 'server' && isData(tls)) return { ...section, tls: resolve(tls, [key, 'tls']) };
    if (key === 'telemetry' || key === 'explorer') return resolve(section, [key]);
    if (key === 'audit' && section.anchor !== undefined)
      return { ...section, anchor: resolve(section.anchor, [key, 'anchor']) };
    const { issuers } = section;
    return key === 'auth' && Array.isArray(issuers) ? { ...section, issuers: issuers.map(inIssuer) } : section;
  });
}

/** The parts of a configuration, or of a host's file, that hold mounts and servers. */
const SECTIONS: ReadonlySet<string> = new Set(['mounts', 'mcpServers', 'servers']);

const unknownReference = (inner: string): string =>
  inner.startsWith('input:')
    ? `asks the user of a host; put the value into the environment, and say ${written('env:NAME')}`
    : `is no reference to the environment, as ${written('NAME')}, ${written('NAME:-default')} and ${written('env:NAME')} are`;

const written = (inner: string): string => `\${${inner}}`;

/** Whether a mount that is a text is a URL, of a server, a database or anything else. */
const hasScheme = (text: string): boolean => /^[a-z][a-z0-9+.-]+:\/\//i.test(text);

/** Whether a mount that is a text is an http or https URL: of another server, or of a resource of the web. */
export const isUrl = (text: string): boolean => /^https?:\/\//i.test(text);

const mapValues = (
  record: Readonly<Record<string, unknown>>,
  change: (value: unknown, key: string) => unknown,
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
