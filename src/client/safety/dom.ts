/** Checks the DOM that a sanitiser works with: the sanitiser is only as safe as its HTML parser. */
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
 * HTML that a parser gets wrong if it does not follow the HTML standard. In the parsed document, the selector `finds` must match
 * and `lacks` must not. Each is a way in which markup that looked harmless to such a parser became a script in a browser.
 */
const CANARIES: readonly { readonly html: string; readonly finds: string; readonly lacks: string }[] = [
  { html: '<svg><style><a title="</style><img src=x>">', finds: 'svg a', lacks: 'img' },
  { html: '<svg><p><b>', finds: 'body > p', lacks: 'svg p' },
  { html: '<table><a></a><tr><td></table>', finds: 'body > a', lacks: 'table a' },
  { html: '<br><noscript><p title="</noscript><img src=x>">', finds: 'noscript p', lacks: 'img' },
  { html: '<math><mtext><table><mglyph><style><!--</style><i title="--><img src=x>">', finds: 'i', lacks: 'img' },
];

/**
 * Returns the window to sanitise in: the given one, or else the browser's.
 * @throws ResourceClientError `unsupported` without a window, or if its HTML parser does not follow the standard: it would miss
 * what a browser finds in the same HTML
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
