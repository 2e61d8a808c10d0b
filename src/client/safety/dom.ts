/** The DOM that a sanitiser works with, which is as much a part of what is trusted as the sanitiser itself. */
import { ResourceClientError } from '../errors.ts';

/** A browser's `window`, or jsdom's: `new JSDOM('').window`. */
export interface DomWindow {
  readonly document: object;
  readonly DOMParser: new () => { parseFromString(text: string, type: 'text/html'): ParsedDocument };
}

interface ParsedDocument {
  querySelector(selectors: string): object | null;
}

/**
 * HTML that parsers get wrong which do not follow the HTML standard, with what must and must not come out of it. Each is
 * a way in which markup that looked harmless to such a parser turned into a script in a browser.
 */
const CANARIES: readonly { readonly html: string; readonly finds: string; readonly lacks: string }[] = [
  { html: '<svg><style><a title="</style><img src=x>">', finds: 'svg a', lacks: 'img' },
  { html: '<svg><p><b>', finds: 'body > p', lacks: 'svg p' },
  { html: '<table><a></a><tr><td></table>', finds: 'body > a', lacks: 'table a' },
  { html: '<br><noscript><p title="</noscript><img src=x>">', finds: 'noscript p', lacks: 'img' },
  { html: '<math><mtext><table><mglyph><style><!--</style><i title="--><img src=x>">', finds: 'i', lacks: 'img' },
];

/**
 * The window to sanitise in: the given one, else that of the browser this runs in.
 * @throws ResourceClientError `unsupported` without one, or where its HTML parser is not that of the standard: then what
 * is taken out is not what a browser would have found
 */
export function checkedWindow(given: DomWindow | undefined): DomWindow {
  const window = given ?? (globalThis as { readonly window?: DomWindow }).window;
  if (window?.document === undefined || typeof window.DOMParser !== 'function') {
    throw new ResourceClientError(
      'unsupported',
      "Sanitising needs a DOM. Outside of browsers, npm install jsdom and pass { window: new JSDOM('').window }",
    );
  }
  const wrong = CANARIES.find(({ html, finds, lacks }) => {
    try {
      const parsed = new window.DOMParser().parseFromString(html, 'text/html');
      return parsed.querySelector(finds) === null || parsed.querySelector(lacks) !== null;
    } catch {
      return true;
    }
  });
  if (wrong !== undefined) {
    throw new ResourceClientError(
      'unsupported',
      'The HTML parser of this window does not follow the HTML standard, so sanitising in it is not safe; use jsdom',
    );
  }
  return window;
}
