/** Fills the placeholders of a text for many resources: `{name}`, `{stem}`, `{folder}`. */
import { invalid } from '../../core/errors.ts';
import { nameOfUri } from '../../core/uri.ts';

const PLACE = /\{([^{}]*)\}/g;

const FILLERS: Readonly<Record<string, (name: string, uri: string) => string>> = {
  name: (name) => name,
  stem: (name) => name.replace(/(?<=.)\.[^.]*$/, ''),
  folder: (_name, uri) => nameOfUri(uri.replace(/\/[^/]*\/?$/, '')) ?? '',
};

/** Checks the placeholders of a text. @throws ResourceError `invalid` for an unknown one */
export function fillersIn(text: string): void {
  for (const [all, name = ''] of text.matchAll(PLACE)) {
    if (!Object.hasOwn(FILLERS, name))
      throw invalid(`${all} in "${text}" is not a placeholder; use {${Object.keys(FILLERS).join('}, {')}}`);
  }
}

/** Fills a text for one resource. */
export const fill = (text: string, name: string, uri: string): string =>
  text.includes('{')
    ? text.replace(
        PLACE,
        (all, key: string) => (Object.hasOwn(FILLERS, key) ? FILLERS[key]?.(name, uri) : undefined) ?? all,
      )
    : text;
