/** Shows bytes in hexadecimal and as ASCII. */
import { TEXTS } from '../texts.ts';
import type { PreviewProps } from './props.ts';

const WIDTH = 16;

export default function Hex({ thing: { bytes, text, window } }: PreviewProps) {
  const all = bytes ?? new TextEncoder().encode(text ?? '');
  const start = window?.offset ?? 0;
  const lines: string[] = [];
  for (let at = 0; at < all.byteLength; at += WIDTH) {
    const part = [...all.subarray(at, at + WIDTH)];
    const pairs = part.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const letters = part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${(start + at).toString(16).padStart(8, '0')}  ${pairs.padEnd(WIDTH * 3 - 1)}  ${letters}`);
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys can scroll this element only when it has the focus
    <section class="scrolls" dir="ltr" tabIndex={0} aria-label={TEXTS.bytesTab}>
      <pre>{lines.join('\n')}</pre>
    </section>
  );
}
