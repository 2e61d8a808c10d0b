/** Sizes and times as people read them, and exactly. */

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** As in `410 B` or `18.2 KB`, in thousands. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit++;
  }
  return `${unit === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** With a comma between thousands. */
export const countText = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',');

/** A time as an element has it, and as it is shown; undefined of what is none. */
export function timeText(said: unknown): { readonly exact: string; readonly shown: string } | undefined {
  if (typeof said !== 'string' || !/^\d{4}-/.test(said)) return undefined;
  const time = new Date(said);
  if (Number.isNaN(time.getTime())) return undefined;
  const exact = time.toISOString();
  return { exact, shown: `${exact.slice(0, 10)} ${exact.slice(11, 16)}` };
}

/** A text with the line ends of this page, so that those of Windows are not shown as characters that cannot be seen. */
export const shownText = (text: string): string => text.replaceAll('\r\n', '\n');
