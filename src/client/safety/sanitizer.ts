/** HTML and SVG of a server without anything in it that acts (SEC-RES-7), through DOMPurify. */
import type { Config, DOMPurify } from 'dompurify';
import { ResourceClientError } from '../errors.ts';
import { isShallow } from './depth.ts';
import { checkedWindow, type DomWindow } from './dom.ts';
import { HTML_ATTRIBUTES, HTML_ELEMENTS, keepsInHtml, keepsInSvg, SVG_ATTRIBUTES, SVG_ELEMENTS } from './markup.ts';

/** Characters of markup that are sanitised, unless told otherwise: 1 Mi. */
export const DEFAULT_MAX_MARKUP = 1024 * 1024;

export interface SanitizerOptions {
  /** The window that parses: the browser's own by default, and jsdom's elsewhere. Its parser is tried out first. */
  readonly window?: DomWindow;
  /** Characters of markup that are taken; 1,048,576 by default. */
  readonly maxLength?: number;
  /**
   * Whether HTML may load an image from an address. None by default, since a fetched image tells the server who looks,
   * and an address can carry what a model read. Raster images in `data:` URIs always stay.
   */
  readonly allowImage?: (url: URL) => boolean;
}

export interface Sanitizer {
  /** @throws ResourceClientError `too-large`; `invalid-answer` for markup that cannot be made safe */
  toSafeHtml(html: string): string;
  /** @throws ResourceClientError `too-large`; `invalid-answer` for what has no `svg` element at its root */
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
 * A sanitiser, for many texts. `dompurify` is an optional peer: `npm install dompurify`, and `jsdom` outside of browsers.
 * @throws ResourceClientError `unsupported` without DOMPurify, or without a DOM in which it is safe
 */
export async function createSanitizer(options: SanitizerOptions = {}): Promise<Sanitizer> {
  const { maxLength = DEFAULT_MAX_MARKUP, allowImage = () => false } = options;
  const window = checkedWindow(options.window);
  // Of their own, so that no hook of the host's page is in them, and none of these in the page.
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

/** HTML that may be put into a page. See `createSanitizer`, which is for many. */
export async function toSafeHtml(html: string, options?: SanitizerOptions): Promise<string> {
  return (await createSanitizer(options)).toSafeHtml(html);
}

/**
 * SVG for an `img` element (`svgImageSource`): shapes, without scripts, links, styles and addresses. For one text; see
 * `createSanitizer`, which is for many.
 */
export async function toSafeSvg(svg: string, options?: SanitizerOptions): Promise<string> {
  return (await createSanitizer(options)).toSafeSvg(svg);
}

/** A `data:` URI for the `src` of an `img` element: the one place where SVG of a server belongs (973-4). */
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

/** The one element at the top, as XML that is HTML as well. */
function rootOf(fragment: DocumentFragment): string {
  const [root, ...others] = [...fragment.children];
  if (root?.localName !== 'svg' || root.namespaceURI !== NAMESPACE || others.length > 0) {
    throw new ResourceClientError('invalid-answer', 'The content is not an SVG drawing');
  }
  root.setAttribute('xmlns', NAMESPACE);
  // The one entity of HTML that serialising makes and XML does not know.
  return root.outerHTML.replaceAll('&nbsp;', '&#160;');
}
