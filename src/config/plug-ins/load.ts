/** Loads the packages that a configuration names under `kinds`. Packages are code, so nothing else can name one. */

import { createRequire } from 'node:module';
import { isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installCommand } from '../../core/missing-package.ts';
import { isData } from '../../protocol/data.ts';
import { type Explanation, nearestKey } from '../explain.ts';
import { BUILT_IN } from '../kinds/index.ts';
import { isModulePath, kindsConfig } from '../kinds-schema.ts';
import type { ProviderKind } from './define-kind.ts';
import { plugInMounts } from './mounts.ts';
import { checkSettings } from './settings.ts';
import { within } from './within.ts';

/** How long a package may take to load, in milliseconds. */
const LOAD_MS = 30_000;

/** The kinds of packages by their names, each with the package as the configuration names it. */
export type PluggedKinds = ReadonlyMap<string, { readonly kind: ProviderKind; readonly from: string }>;

/** @param base the folder of the configuration: paths start from it, and packages are looked for in it and in the folders above */
export async function loadKinds(
  content: unknown,
  base: string,
): Promise<{ readonly plugged: PluggedKinds; readonly problems: readonly Explanation[] }> {
  // If `kinds` is not a list of names, the schema of the configuration reports it.
  const { data: names = [] } = kindsConfig.safeParse(isData(content) ? content.kinds : undefined);
  const plugged = new Map<string, { readonly kind: ProviderKind; readonly from: string }>();
  const problems: Explanation[] = [];
  for (const [index, from] of names.entries()) {
    const problem = (message: string): void => {
      problems.push({ path: ['kinds', index], message: `kinds.${index}: ${message}` });
    };
    try {
      const kind = await kindIn(from, base);
      const other = plugged.get(kind.name);
      if (other !== undefined) problem(`${other.from} and ${from} both add "${kind.name}"; leave one out`);
      else plugged.set(kind.name, { kind, from });
    } catch (error) {
      problem(reasonOf(error));
    }
  }
  return { plugged, problems };
}

/** Returns all problems of mounts with a `kind`: kinds that no package adds, and settings that their schema rejects. */
export async function settingsProblems(content: unknown, plugged: PluggedKinds): Promise<readonly Explanation[]> {
  const problems: Explanation[] = [];
  for (const { mount, kind: name, settings } of plugInMounts(content)) {
    const found = plugged.get(name);
    const path = ['mounts', mount];
    if (found === undefined) {
      problems.push({ path: [...path, 'kind'], message: `mounts.${mount}.kind: ${unknownKind(name, plugged)}` });
      continue;
    }
    try {
      const checked = await checkSettings(found.kind.settings, settings, path);
      if ('problems' in checked) problems.push(...checked.problems);
    } catch (error) {
      problems.push({ path, message: `mounts.${mount}: ${found.from} cannot check it: ${reasonOf(error)}` });
    }
  }
  return problems;
}

function unknownKind(name: string, plugged: PluggedKinds): string {
  if (BUILT_IN.has(name)) return `"${name}" is built in and needs no kind; say ${name}: and what is mounted`;
  const nearest = nearestKey(name, [...plugged.keys()]);
  if (nearest !== undefined) return `no package under kinds adds "${name}"; did you mean "${nearest}"?`;
  return `no package under kinds adds "${name}"; name the one that does, as in kinds: [vitrine-provider-${name}]`;
}

/** @throws Error that says what is wrong with the package */
async function kindIn(from: string, base: string): Promise<ProviderKind> {
  const file = fileOf(from, base);
  const late = `${from} took longer than ${LOAD_MS / 1_000} seconds to load`;
  const module: unknown = await within(LOAD_MS, late, () => import(pathToFileURL(file).href)).catch((cause) => {
    throw new Error(`${from} cannot be loaded: ${reasonOf(cause)}`, { cause });
  });
  const { default: first } = module as { readonly default?: unknown };
  // The default export of a CommonJS module is the object of all its exports.
  const kind = isData(first) && isData(first.default) ? first.default : first;
  if (!isKind(kind)) throw new Error(`${from} has no kind as its default export; it is made with defineKind`);
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(kind.name))
    throw new Error(`${from} adds a kind whose name is not made of lower-case letters, digits and "-"`);
  if (BUILT_IN.has(kind.name)) throw new Error(`${from} adds "${kind.name}", which is built in`);
  return kind;
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isKind = (kind: unknown): kind is ProviderKind =>
  isData(kind) && typeof kind.name === 'string' && isSchema(kind.settings) && typeof kind.create === 'function';

/** The schemas of some libraries are functions. */
const isSchema = (schema: unknown): boolean => isData(schema) || typeof schema === 'function';

/** Finds the file of a module for the configuration, or else beside Vitrine. @throws Error that says how to install the package */
function fileOf(from: string, base: string): string {
  for (const place of [join(base, 'vitrine.yaml'), import.meta.url]) {
    try {
      const file = createRequire(place).resolve(from);
      if (isAbsolute(file)) return file;
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === 'ERR_PACKAGE_PATH_NOT_EXPORTED')
        throw new Error(`${from} is not exported by its package; its exports need "default" for it`, { cause });
      if (code !== 'MODULE_NOT_FOUND') throw cause;
    }
    if (isModulePath(from)) throw new Error(`there is no module at ${from}`);
  }
  const name = from.split('/', from.startsWith('@') ? 2 : 1).join('/');
  throw new Error(
    `${name} is not installed; for this configuration alone: npm install --prefix ${base} ${name}; beside Vitrine: ${installCommand([name])}`,
  );
}
