/** Hashes accepted definitions of tools and prompts, in a canonical form, so that every later change is found (SEC-TOOL-4). */

/** The hashes of an accepted definition. */
export interface ToolPin {
  /** SHA-256 of the whole definition in canonical form, in hexadecimal. */
  readonly hash: string;
  /** The hash of each field, to name the changed ones. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Returns the pin of a definition: of all its fields, known and unknown. */
export async function pinOf(definition: Readonly<Record<string, unknown>>): Promise<ToolPin> {
  const fields = await Promise.all(
    Object.keys(definition)
      .sort()
      .map(async (name) => [name, await sha256(canonicalJson(definition[name]))] as const),
  );
  return { hash: await sha256(canonicalJson(definition)), fields: Object.fromEntries(fields) };
}

/** Returns the names of fields that were added, removed or changed. */
export function changedFields(before: ToolPin, now: ToolPin): readonly string[] {
  const names = new Set([...Object.keys(before.fields), ...Object.keys(now.fields)]);
  return [...names].filter((name) => before.fields[name] !== now.fields[name]).sort();
}

/** Writes JSON with sorted names, as in RFC 8785, so that equal data gives equal text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, entry]) => entry !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([name, entry]) => `${JSON.stringify(name)}:${canonicalJson(entry)}`).join(',')}}`;
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
