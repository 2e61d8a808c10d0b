/**
 * Compares the spellings of one URI. Vitrine's own providers have one URI for each resource. Another server may decode and
 * resolve URIs in its own way, and so accept several. A rule about a URI is therefore checked against each spelling that
 * `foreign.ts` finds.
 */

/** Characters that change the meaning of a URI when they are written without their escape. */
const KEPT = /[\u0000-\u001f\u007f-\u009f%/?#[\]\\]/;

/** Returns a private character that stands for an escaped one, so that a pattern sees one character and never a delimiter. */
const standIn = (char: string): string => String.fromCharCode(STAND_INS + char.charCodeAt(0));
const STAND_INS = 0xe000;
const STAND_IN = /[\ue000-\ue0ff]/;

const PLAIN = /^[a-z0-9+.:/?#@!$&'()*,;=_~{}|^ -]*$/i;
const ESCAPES = /(?:%[0-9A-Fa-f]{2})+/g;

let last: { readonly uri: string; readonly form: string } = { uri: '', form: '' };

/**
 * Returns the form in which URIs and globs over URIs are compared: lower-case scheme, Unicode NFC, and decoded escapes
 * except those of delimiters, percent signs and control characters. The result is not a URI: each escape that stays is
 * one private character.
 */
export function comparableUri(uri: string): string {
  // All rules of one request ask for the same URI.
  if (last.uri !== uri) last = { uri, form: formOf(uri) };
  return last.form;
}

function formOf(uri: string): string {
  const colon = uri.indexOf(':');
  const lowered = colon === -1 ? uri : uri.slice(0, colon).toLowerCase() + uri.slice(colon);
  if (PLAIN.test(lowered)) return lowered;
  return (
    lowered
      // A private character of the URI itself stands for nothing else.
      .replace(/[\ue000-\ue0ff]/g, encodeURIComponent)
      .replace(/[\u0000-\u001f\u007f-\u009f[\]\\]/g, standIn)
      .replace(ESCAPES, decodedRun)
      .normalize('NFC')
  );
}

function decodedRun(run: string): string {
  const decoded = decodedOnce(run);
  if (decoded === undefined) return run.toUpperCase();
  return Array.from(decoded, (char) => {
    if (KEPT.test(char)) return standIn(char);
    return STAND_IN.test(char) ? encodeURIComponent(char) : char;
  }).join('');
}

/** Returns undefined where the escapes are not valid UTF-8. */
function decodedOnce(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
