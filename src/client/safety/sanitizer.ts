/** Removes everything active from HTML and SVG of a server (SEC-RES-7), with DOMPurify. */
import type { Config, DOMPurify } from 'dompurify';
import { ResourceClientError } from '../errors.ts';
import { isShallow } from './depth.ts';
import { checkedWindow, type DomWindow } from './dom.ts';
import { HTML_ATTRIBUTES, HTML_ELEMENTS, keepsInHtml, keepsInSvg, SVG_ATTRIBUTES, SVG_ELEMENTS } from './markup.ts';

/** The most characters of markup by default: 1 Mi. */
export const DEFAULT_MAX_MARKUP = 1024 * 1024;

export interface SanitizerOptions {
  /** The window whose parser is used, which is tested first. Default: the browser's own; elsewhere pass that of jsdom. */
  readonly window?: DomWindow;
  /** The most characters of markup; 1,048,576 by default. */
  readonly maxLength?: number;
  /**
   * Decides whether HTML may load an image from an address. By default it may load none: a request for an image reveals who
   * looks, and its address can carry what a model has read. Raster images in `data:` URIs always stay.
   */
  readonly allowImage?: (url: URL) => boolean;
}

export interface Sanitizer {
  /** Returns HTML that may be put into a page. @throws ResourceClientError `too-large`; `invalid-answer` if it cannot be made safe */
  toSafeHtml(html: string): string;
  /** Returns SVG for `svgImageSource`. @throws ResourceClientError `too-large`; `invalid-answer` if its root is not an `svg` element */
  toSafeSvg(svg: string): string;
}

const COMMON: Config = {
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
  SAFE_FOR_XML: true,
  SANITIZE_DOM: true,
  WHOLE_DOCUMENT: false,
};

const HTML: Config = {
  ...COMMON,
  ALLOWED_TAGS: [...HTML_ELEMENTS, '#text'],
  ALLOWED_ATTR: [...HTML_ATTRIBUTES],
  ALLOWED_NAMESPACES: ['http://www.w3.org/1999/xhtml'],
};

const SVG: Config & { readonly RETURN_DOM_FRAGMENT: true } = {
  ...COMMON,
  ALLOWED_TAGS: [...SVG_ELEMENTS, '#text'],
  ALLOWED_ATTR: [...SVG_ATTRIBUTES],
  RETURN_DOM_FRAGMENT: true,
};

/**
 * Creates a sanitiser that can be used for many texts. `dompurify` is an optional peer dependency: `npm install dompurify`, and
 * `jsdom` outside of browsers.
 * @throws ResourceClientError `unsupported` without DOMPurify, or without a DOM in which it is safe
 */
export async function createSanitizer(options: SanitizerOptions = {}): Promise<Sanitizer> {
  const { maxLength = DEFAULT_MAX_MARKUP, allowImage = () => false } = options;
  const window = checkedWindow(options.window);
  // Two new instances of DOMPurify: hooks of the page do not apply to them, nor these hooks to the page.
  const html = await purifier(window);
  const svg = await purifier(window);
  html.addHook('uponSanitizeAttribute', (_node, event) => {
    if (!keepsInHtml(event.attrName, event.attrValue, allowImage)) event.keepAttr = false;
  });
  html.addHook('afterSanitizeAttributes', (node) => {
    if (!node.hasAttribute('href')) return;
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noopener noreferrer nofollow');
  });
  svg.addHook('uponSanitizeAttribute', (_node, event) => {
    if (!keepsInSvg(event.attrName, event.attrValue)) event.keepAttr = false;
  });

  function guarded(markup: string, sanitize: () => string): string {
    if (markup.length > maxLength) {
      throw new ResourceClientError('too-large', `The markup has more than ${maxLength} characters`, {
        data: { size: markup.length, maxBytes: maxLength },
      });
    }
    if (!isShallow(markup)) throw new ResourceClientError('too-large', 'The markup nests too deep');
    try {
      return sanitize();
    } catch (cause) {
      if (cause instanceof ResourceClientError) throw cause;
      throw new ResourceClientError('invalid-answer', 'The markup cannot be made safe', { cause });
    }
  }

  return {
    toSafeHtml: (markup) => guarded(markup, () => html.sanitize(markup, HTML)),
    toSafeSvg: (markup) => guarded(markup, () => rootOf(svg.sanitize(markup, SVG))),
  };
}

/** Returns HTML that may be put into a page. For many texts, use `createSanitizer`. @throws ResourceClientError as it does */
export async function toSafeHtml(html: string, options?: SanitizerOptions): Promise<string> {
  return (await createSanitizer(options)).toSafeHtml(html);
}

/**
 * Returns SVG for an `img` element (`svgImageSource`): shapes, without scripts, links, styles and addresses. For many texts,
 * use `createSanitizer`. @throws ResourceClientError as it does
 */
export async function toSafeSvg(svg: string, options?: SanitizerOptions): Promise<string> {
  return (await createSanitizer(options)).toSafeSvg(svg);
}

/** Returns a `data:` URI for the `src` of an `img` element, the only place for SVG of a server (973-4). */
export function svgImageSource(safeSvg: string): string {
  return `data:image/svg+xml,${encodeURIComponent(safeSvg.toWellFormed())}`;
}

async function purifier(window: DomWindow): Promise<DOMPurify> {
  let createDOMPurify: typeof import('dompurify').default;
  try {
    ({ default: createDOMPurify } = await import('dompurify'));
  } catch (cause) {
    throw new ResourceClientError('unsupported', 'Sanitising needs DOMPurify: npm install dompurify', { cause });
  }
  const purify = createDOMPurify(window as unknown as Parameters<typeof createDOMPurify>[0]);
  if (!purify.isSupported) {
    throw new ResourceClientError('unsupported', 'DOMPurify does not support this window; use jsdom');
  }
  return purify;
}

const NAMESPACE = 'http://www.w3.org/2000/svg';

/** Returns the only element at the top, as text that is both XML and HTML. */
function rootOf(fragment: DocumentFragment): string {
  const [root, ...others] = [...fragment.children];
  if (root?.localName !== 'svg' || root.namespaceURI !== NAMESPACE || others.length > 0) {
    throw new ResourceClientError('invalid-answer', 'The content is not an SVG drawing');
  }
  root.setAttribute('xmlns', NAMESPACE);
  // `&nbsp;` is the only entity that a serialiser of HTML writes and XML does not know.
  return root.outerHTML.replaceAll('&nbsp;', '&#160;');
}
