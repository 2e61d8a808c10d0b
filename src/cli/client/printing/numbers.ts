/** Parses the numbers of options. */
import { UsageError } from '../../errors.ts';

/** Parses a number. @throws UsageError that names the flag and the allowed values */
export function numberOf(text: string, flag: string, least: number, most: number): number {
  const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`${flag} takes a number from ${least} to ${most}`);
}

/** Parses a whole number, or returns the default. @throws UsageError */
export function countOf(
  text: string | undefined,
  flag: string,
  fallback: number,
  least = 1,
  most = Number.POSITIVE_INFINITY,
): number {
  if (text === undefined) return fallback;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(
    `${flag} takes a whole number from ${least}${most === Number.POSITIVE_INFINITY ? '' : ` to ${most}`}`,
  );
}

/** Parses a number of bytes, as in 500, 64K, 10M or 1G. @throws UsageError */
export function bytesOf(text: string | undefined, flag: string, fallback: number): number {
  if (text === undefined) return fallback;
  const found = /^(\d{1,12})([KMG]?)(?:i?B)?$/i.exec(text);
  const unit = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 }[(found?.[2] ?? '').toUpperCase()] ?? 1;
  const value = found === null ? 0 : Number(found[1]) * unit;
  if (value >= 1 && value <= Number.MAX_SAFE_INTEGER) return value;
  throw new UsageError(`${flag} takes bytes, as in 500, 64K or 10M`);
}
