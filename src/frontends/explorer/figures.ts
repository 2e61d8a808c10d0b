/** Formats sizes, counts and times for people. */

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** Formats a size, such as `410 B` or `18.2 KB`; 1 KB is 1,000 bytes. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit++;
  }
  return `${unit === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** Formats a whole number with a comma between thousands. */
export const countText = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',');

/** Formats a time: `exact` for a `time` element, `shown` for people, both in UTC. Undefined for a value that is no time. */
export function timeText(value: unknown): { readonly exact: string; readonly shown: string } | undefined {
  if (typeof value !== 'string' || !/^\d{4}-/.test(value)) return undefined;
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) return undefined;
  const exact = time.toISOString();
  return { exact, shown: `${exact.slice(0, 10)} ${exact.slice(11, 16)}` };
}

/** Replaces the line ends of Windows, which would be shown as marks for invisible characters. */
export const shownText = (text: string): string => text.replaceAll('\r\n', '\n');
