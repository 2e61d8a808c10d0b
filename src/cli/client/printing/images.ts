/** Shows images in terminals that support kitty's graphics protocol, or iTerm2's. */
import { checkContents } from '../../../client/safety/contents.ts';
import { imageSize } from '../../../client/safety/image-size.ts';
import { renderingOf } from '../../../client/safety/rendering.ts';

/** The environment variables that identify the terminal. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the terminal's image protocol; undefined for most terminals. */
export function imageProtocol(env: Environment): 'kitty' | 'iterm2' | undefined {
  // Terminal multiplexers do not pass images on.
  if ((env.TMUX ?? '') !== '' || /^(?:screen|tmux)/.test(env.TERM ?? '')) return undefined;
  const program = env.TERM_PROGRAM ?? '';
  if ((env.KITTY_WINDOW_ID ?? '') !== '' || env.TERM === 'xterm-kitty' || /^ghostty$/i.test(program)) return 'kitty';
  return program === 'iTerm.app' || program === 'WezTerm' || program === 'mintty' ? 'iterm2' : undefined;
}

/** Characters of base64 in one escape sequence of kitty's protocol. */
const KITTY_CHUNK = 4_096;

/** The most bytes of an image that are sent to a terminal. */
const MAX_IMAGE_BYTES = 8 * 1024 * 1024;

export interface SentImage {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
}

/**
 * Returns the escape sequence that shows an image, made only of numbers and base64; undefined if the bytes are not
 * an image, or not one that this terminal can show.
 */
export async function imageEscape({ mimeType, data }: SentImage, env: Environment): Promise<string | undefined> {
  const protocol = imageProtocol(env);
  if (protocol === undefined) return undefined;
  const checked = await checkContents({ mimeType, data }, { maxBytes: MAX_IMAGE_BYTES }).catch(() => undefined);
  if (checked?.bytes === undefined || renderingOf(checked).reason !== 'raster-image') return undefined;
  const base64 = Buffer.from(checked.bytes).toString('base64');
  if (protocol === 'iterm2')
    return `\u001b]1337;File=inline=1;size=${checked.size};preserveAspectRatio=1:${base64}\u0007\n`;
  return checked.mimeType === 'image/png' ? kitty(base64) : undefined;
}

function kitty(base64: string): string {
  let escapes = '';
  for (let at = 0; at < base64.length; at += KITTY_CHUNK) {
    const more = at + KITTY_CHUNK < base64.length ? 1 : 0;
    const head = at === 0 ? 'a=T,f=100,q=2,' : '';
    escapes += `\u001b_G${head}m=${more};${base64.slice(at, at + KITTY_CHUNK)}\u001b\\`;
  }
  return `${escapes}\n`;
}

/** Returns the dimensions of an image as `, 64 x 48`, if its header has them. */
export function dimensions(mimeType: string, bytes: Uint8Array): string {
  const size = imageSize(mimeType, bytes);
  return size === undefined ? '' : `, ${size.width} x ${size.height}`;
}
