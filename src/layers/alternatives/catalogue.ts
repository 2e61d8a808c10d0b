/** Which formats there are of which type, with what is installed. */
import { createRequire } from 'node:module';
import { bestFormat } from '../../core/formats/accept.ts';
import type { Converter } from './converters/converter.ts';
import { CONVERTERS } from './converters/index.ts';
import { utf8 } from './converters/utf8.ts';

/** One format of a type, and who makes it. */
export interface Format {
  readonly mimeType: string;
  readonly converter: Converter;
}

export interface Catalogue {
  /** The formats of a type beside its own, the preferred one first; undefined where there are none. */
  formatsOf(mimeType: string | undefined): readonly Format[] | undefined;
}

/**
 * Looks for the packages when a type is first asked for, so that a server that serves no documents never looks.
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
      // Types that nobody converts are not remembered: there may be any number of them.
      if (!byType.has(type)) return undefined;
      if (!known.has(type)) known.set(type, find(type));
      return known.get(type);
    },
  };
}

/** The format of a text that is not UTF-8. */
export const utf8Format = (mimeType: string): Format => ({
  mimeType: `${essenceOf(mimeType)};charset=utf-8`,
  converter: utf8,
});

/** Whether a format that is wanted is that one. */
export const isUtf8Format = (mimeType: string): boolean => /;\s*charset\s*=\s*"?utf-?8/i.test(mimeType);

/** Without parameters, in lower case; most types are like that already. */
const essenceOf = (mimeType: string): string => {
  const end = mimeType.indexOf(';');
  return (end === -1 ? mimeType : mimeType.slice(0, end)).trim().toLowerCase();
};

const require = createRequire(import.meta.url);
const found = new Map<string, boolean>();

/** Whether a package can be loaded; it is not loaded for that. */
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
    // It is there, and has nothing for those who do not use `import`.
    return error instanceof Error && 'code' in error && error.code === 'ERR_PACKAGE_PATH_NOT_EXPORTED';
  }
}

/** Packages that would have to be installed for all formats, for those who check a configuration. */
export function missingPackages(isInstalled: (name: string) => boolean = installed): readonly string[] {
  return [...new Set(CONVERTERS.flatMap(({ needs = [] }) => needs.filter((name) => !isInstalled(name))))];
}
