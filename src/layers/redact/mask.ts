/** Covers secrets byte for byte, so that sizes, offsets and lines stay the same. */

/** The position of a secret in bytes, and its kind. */
export interface Finding {
  readonly start: number;
  /** The position after its last byte. */
  readonly end: number;
  readonly kind: string;
}

const FILL = 0x2a;

/** Bytes that are never covered: line ends, and the zero bytes of UTF-16. */
const KEPT: ReadonlySet<number | undefined> = new Set([0x00, 0x0a, 0x0d]);

/**
 * Returns a copy of the bytes in which each secret is `[redacted: kind]`, padded with `*` to the length of the secret.
 * A secret too short for that becomes `[redacted]`, and a still shorter one only `*`.
 */
export function mask(bytes: Uint8Array, findings: readonly Finding[]): Uint8Array {
  if (findings.length === 0) return bytes;
  const masked = Uint8Array.from(bytes);
  for (const { start, end, kind } of findings) {
    const places: number[] = [];
    for (let at = start; at < end; at++) if (!KEPT.has(bytes[at])) places.push(at);
    const label = [`[redacted: ${kind}]`, '[redacted]'].find((each) => each.length <= places.length) ?? '';
    for (const [index, at] of places.entries()) masked[at] = index < label.length ? label.charCodeAt(index) : FILL;
  }
  return masked;
}

/** Sorts findings and joins those that overlap; a joined one has the kind of the longest. */
export function merged(findings: readonly Finding[]): readonly Finding[] {
  const ordered = [...findings].sort((a, b) => a.start - b.start || b.end - a.end);
  const apart: Finding[] = [];
  for (const next of ordered) {
    const last = apart.at(-1);
    if (last === undefined || next.start >= last.end) {
      apart.push(next);
      continue;
    }
    const kind = next.end - next.start > last.end - last.start ? next.kind : last.kind;
    apart[apart.length - 1] = { start: last.start, end: Math.max(last.end, next.end), kind };
  }
  return apart;
}

/** Counts the findings of each kind, including secrets of which the window shows only a part. */
export function countsOf(findings: readonly Finding[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { kind } of findings) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Returns the findings with at least one byte in the range. */
export const within = (findings: readonly Finding[], from: number, to: number): readonly Finding[] =>
  findings.filter(({ start, end }) => start < to && end > from);
