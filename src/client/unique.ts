/** Makes a random name that nobody else has. `crypto.randomUUID` is missing in pages that were loaded without TLS. */
export function uniqueName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
