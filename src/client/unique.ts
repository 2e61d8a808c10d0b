/** A name that nobody else has. `crypto.randomUUID` is not there on pages that came without TLS. */
export function uniqueName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
