/**
 * Spellings of one URI. Providers of our own have one name for each thing; another server may know it by several, since
 * it decodes and resolves what it is sent in its own way. Where something is decided by URI, it is decided by each.
 */

/** Escaped characters of which a URI with the escape means something else than a URI with the character. */
const KEPT = /[\u0000-\u001f\u007f-\u009f%/?#[\]\\]/;

/** A character that stands for an escaped one, so that patterns see one character and never a delimiter. */
const standIn = (char: string): string => String.fromCharCode(STAND_INS + char.charCodeAt(0));
const STAND_INS = 0xe000;
const STAND_IN = /[\ue000-\ue0ff]/;

const PLAIN = /^[a-z0-9+.:/?#@!$&'()*,;=_~{}|^ -]*$/i;
const ESCAPES = /(?:%[0-9A-Fa-f]{2})+/g;

let last: { readonly uri: string; readonly form: string } = { uri: '', form: '' };

/**
 * The form in which URIs and globs over URIs are compared: the scheme in lower case, escapes decoded but for delimiters,
 * percent signs and control characters, and Unicode NFC. Not a URI: what stays escaped is one private character.
 */
export function comparableUri(uri: string): string {
  // Of one request, each rule asks for the same.
  if (last.uri !== uri) last = { uri, form: formOf(uri) };
  return last.form;
}

function formOf(uri: string): string {
  const colon = uri.indexOf(':');
  const lowered = colon === -1 ? uri : uri.slice(0, colon).toLowerCase() + uri.slice(colon);
  if (PLAIN.test(lowered)) return lowered;
  return lowered
    .replace(/[\u0000-\u001f\u007f-\u009f[\]\\]/g, standIn)
    .replace(ESCAPES, decodedRun)
    .normalize('NFC');
}

function decodedRun(run: string): string {
  const decoded = decodedOnce(run);
  if (decoded === undefined) return run.toUpperCase();
  return Array.from(decoded, (char) => {
    if (KEPT.test(char)) return standIn(char);
    return STAND_IN.test(char) ? encodeURIComponent(char) : char;
  }).join('');
}

/** Undefined where the escapes are not valid UTF-8. */
function decodedOnce(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
