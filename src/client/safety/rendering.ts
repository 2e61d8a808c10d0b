/** How contents may be shown. Whatever is not known to be harmless is offered for download, never opened (SEC-RES-7). */
import { type CheckedContents, essence } from './contents.ts';
import { imageSize } from './image-size.ts';

export type RenderingForm =
  /** As characters: escaped in HTML, stripped with `forTerminal` in a terminal. */
  | 'text'
  /** As the source of an `img` element, and nothing else: there no script of an SVG runs. */
  | 'image'
  /** In a frame that may do nothing, made with `sandboxFrame`, or as what `toSafeHtml` leaves of it. */
  | 'sandbox'
  /** Not shown. The user may save it. */
  | 'download';

/** Why a form was chosen. */
export type RenderingReason =
  | 'plain-text'
  | 'raster-image'
  /** SVG is a document with scripts: harmless in an `img` only. */
  | 'vector-image'
  /** HTML and its kin are documents with scripts. */
  | 'active-document'
  /** The bytes are not what the server says. */
  | 'type-contradicted'
  /** A type that nothing here can show. */
  | 'type-unknown'
  /** More text or more pixels than are shown. */
  | 'too-large'
  /** An image whose header is not one. */
  | 'damaged';

export interface Rendering {
  readonly as: RenderingForm;
  readonly reason: RenderingReason;
  /** The type to give to whatever shows it; for text always `text/plain`. */
  readonly mimeType: string;
}

export interface RenderingOptions {
  /** Bytes of text that are shown; 1 MiB by default. */
  readonly maxTextBytes?: number;
  /** Width times height of an image; 64 megapixels (2^26) by default. */
  readonly maxPixels?: number;
}

const RASTER: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const ACTIVE: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);
const TEXTUAL =
  /^(?:text\/.+|application\/(?:.+\+)?(?:json|jsonl|xml|yaml|x-yaml|toml|javascript|typescript|sql|graphql))$/;
const BINARY = 'application/octet-stream';

/**
 * How to show contents, with the reason. A contradicted type is shown as plain text where the bytes are text, and is not
 * shown otherwise.
 *
 * @example
 * const checked = await checkContents(item);
 * if (renderingOf(checked).as === 'text') element.textContent = checked.text;
 */
export function renderingOf(checked: CheckedContents, options: RenderingOptions = {}): Rendering {
  const { maxTextBytes = 1024 * 1024, maxPixels = 2 ** 26 } = options;
  const type = essence(checked.mimeType) ?? BINARY;
  const asText = (reason: RenderingReason): Rendering =>
    checked.size > maxTextBytes ? download('too-large', type) : { as: 'text', reason, mimeType: 'text/plain' };

  if (checked.problems.includes('type-contradicted')) {
    return checked.text === undefined || !type.startsWith('text/')
      ? download('type-contradicted', type)
      : asText('type-contradicted');
  }
  if (RASTER.has(type)) {
    if (checked.bytes === undefined) return download('damaged', type);
    const size = imageSize(type, checked.bytes);
    if (size === undefined || size.width === 0 || size.height === 0) return download('damaged', type);
    if (size.width * size.height > maxPixels) return download('too-large', type);
    return { as: 'image', reason: 'raster-image', mimeType: type };
  }
  if (checked.text === undefined) return download('type-unknown', type);
  if (type === 'image/svg+xml') {
    if (checked.size > maxTextBytes) return download('too-large', type);
    return { as: 'image', reason: 'vector-image', mimeType: type };
  }
  if (ACTIVE.has(type)) {
    if (checked.size > maxTextBytes) return download('too-large', type);
    return { as: 'sandbox', reason: 'active-document', mimeType: type };
  }
  return TEXTUAL.test(type) ? asText('plain-text') : download('type-unknown', type);
}

function download(reason: RenderingReason, mimeType: string): Rendering {
  // A saved file must not open as a document with scripts: it gets a type that no program opens by itself.
  return { as: 'download', reason, mimeType: ACTIVE.has(mimeType) || mimeType === 'image/svg+xml' ? BINARY : mimeType };
}
