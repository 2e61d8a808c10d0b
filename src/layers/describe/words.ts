/** Words about many resources, with places for what differs between them. */
import { invalid } from '../../core/errors.ts';
import { nameOfUri } from '../../core/uri.ts';

const PLACE = /\{([^{}]*)\}/g;

const FILLERS: Readonly<Record<string, (name: string, uri: string) => string>> = {
  name: (name) => name,
  stem: (name) => name.replace(/(?<=.)\.[^.]*$/, ''),
  folder: (_name, uri) => nameOfUri(uri.replace(/\/[^/]*\/?$/, '')) ?? '',
};

/** @throws ResourceError `invalid` for a place that nothing goes into */
export function fillersIn(text: string): void {
  for (const [all, name = ''] of text.matchAll(PLACE)) {
    if (!Object.hasOwn(FILLERS, name))
      throw invalid(`${all} in "${text}" is nothing that is known; there are {${Object.keys(FILLERS).join('}, {')}}`);
  }
}

/** The text about one resource. */
export const fill = (text: string, name: string, uri: string): string =>
  text.includes('{')
    ? text.replace(
        PLACE,
        (all, key: string) => (Object.hasOwn(FILLERS, key) ? FILLERS[key]?.(name, uri) : undefined) ?? all,
      )
    : text;
