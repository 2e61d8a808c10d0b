/** Lists the formats of each type that the installed packages can make. */

import { createRequire } from 'node:module';
import { bestFormat } from '../../core/formats/accept.ts';
import { essenceOf } from '../../core/formats/formats.ts';
import type { Converter } from './converters/converter.ts';
import { CONVERTERS } from './converters/index.ts';
import { utf8 } from './converters/utf8.ts';

/** One format of a type, and its converter. */
export interface Format {
  readonly mimeType: string;
  readonly converter: Converter;
}

export interface Catalogue {
  /** The further formats of a type, the preferred one first; undefined where there are none. */
  formatsOf(mimeType: string | undefined): readonly Format[] | undefined;
}

/**
 * Looks for the packages on the first request for a type, so that a server without documents never does.
 * @param except types, or ranges of them, without formats
 */
export function createCatalogue(except: readonly string[] = [], isInstalled = installed): Catalogue {
  const known = new Map<string, readonly Format[] | undefined>();
  const byType = new Map<string, Converter[]>();
  for (const converter of CONVERTERS) {
    for (const type of converter.from) byType.set(type, [...(byType.get(type) ?? []), converter]);
  }

  function find(type: string): readonly Format[] | undefined {
    const converters = byType.get(type);
    if (converters === undefined || bestFormat([type], except) !== undefined) return undefined;
    const able = converters.filter(({ needs = [] }) => needs.every(isInstalled));
    const formats = new Map<string, Format>();
    for (const converter of able) {
      for (const mimeType of converter.to) if (!formats.has(mimeType)) formats.set(mimeType, { mimeType, converter });
    }
    return formats.size === 0 ? undefined : [...formats.values()];
  }

  return {
    formatsOf(mimeType) {
      if (mimeType === undefined) return undefined;
      const type = byType.has(mimeType) ? mimeType : essenceOf(mimeType);
      // Unknown types are not cached: there may be any number of them.
      if (!byType.has(type)) return undefined;
      if (!known.has(type)) known.set(type, find(type));
      return known.get(type);
    },
  };
}

/** The format in UTF-8 of a text that has another encoding. */
export const utf8Format = (mimeType: string): Format => ({
  mimeType: `${essenceOf(mimeType)};charset=utf-8`,
  converter: utf8,
});

/** Whether the requested format is UTF-8. */
export const isUtf8Format = (mimeType: string): boolean => /;\s*charset\s*=\s*"?utf-?8/i.test(mimeType);

const require = createRequire(import.meta.url);
const found = new Map<string, boolean>();

/** Whether a package can be loaded, without loading it. */
function installed(name: string): boolean {
  const known = found.get(name);
  if (known !== undefined) return known;
  const is = canResolve(name);
  found.set(name, is);
  return is;
}

function canResolve(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch (error) {
    // The package exists, but exports nothing to code that does not use `import`.
    return error instanceof Error && 'code' in error && error.code === 'ERR_PACKAGE_PATH_NOT_EXPORTED';
  }
}

/** Returns the packages that some formats need and that are not installed, for the check of a configuration. */
export function missingPackages(isInstalled: (name: string) => boolean = installed): readonly string[] {
  return [...new Set(CONVERTERS.flatMap(({ needs = [] }) => needs.filter((name) => !isInstalled(name))))];
}
