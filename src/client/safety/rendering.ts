/** Decides how contents may be shown. Anything not known to be harmless is offered for download, never opened (SEC-RES-7). */
import { essenceOf } from '../../core/formats/formats.ts';
import type { CheckedContents } from './contents.ts';
import { imageSize } from './image-size.ts';

export type RenderingForm =
  /** As characters: escaped in HTML, stripped with `forTerminal` in a terminal. */
  | 'text'
  /** Only as the source of an `img` element, in which no script of an SVG runs. */
  | 'image'
  /** In a frame made with `sandboxFrame`, or after `toSafeHtml` has taken out everything active. */
  | 'sandbox'
  /** Not shown. The user may save it. */
  | 'download';

/** Why contents are shown in this way. */
export type RenderingReason =
  | 'plain-text'
  | 'raster-image'
  /** SVG can have scripts: it is harmless only in an `img`. */
  | 'vector-image'
  /** HTML and XHTML can have scripts. */
  | 'active-document'
  /** The bytes are not of the type that the server claims. */
  | 'type-contradicted'
  /** The type is not one that can be shown safely. */
  | 'type-unknown'
  /** There is more text, or there are more pixels, than the options allow. */
  | 'too-large'
  /** The header of the image is damaged. */
  | 'damaged';

export interface Rendering {
  readonly as: RenderingForm;
  readonly reason: RenderingReason;
  /** The type to show or save the contents as; for text always `text/plain`. */
  readonly mimeType: string;
}

export interface RenderingOptions {
  /** The most bytes of text that are shown; 1 MiB by default. */
  readonly maxTextBytes?: number;
  /** The most pixels (width times height) of an image; 64 megapixels (2^26) by default. */
  readonly maxPixels?: number;
}

const RASTER: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const ACTIVE: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);
const TEXTUAL =
  /^(?:text\/.+|application\/(?:.+\+)?(?:json|jsonl|xml|yaml|x-yaml|toml|javascript|typescript|sql|graphql))$/;
const BINARY = 'application/octet-stream';

/**
 * Returns how to show contents, with the reason. Contents that contradict their claimed type are shown as plain text if the
 * bytes are text, and not at all otherwise.
 *
 * @example
 * const checked = await checkContents(item);
 * if (renderingOf(checked).as === 'text') element.textContent = checked.text;
 */
export function renderingOf(checked: CheckedContents, options: RenderingOptions = {}): Rendering {
  const { maxTextBytes = 1024 * 1024, maxPixels = 2 ** 26 } = options;
  const type = essenceOf(checked.mimeType) || BINARY;
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
