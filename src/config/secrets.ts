/** Hides secrets in everything that is printed or logged: values from the environment, passwords and keys. */

/** Shorter values are not hidden, because ordinary words contain them. */
const MIN_SECRET_LENGTH = 4;

export interface Secrets {
  /** Remembers the value of a reference. */
  add(name: string, value: string): void;
  /** Replaces each value in a text by its reference. */
  hide(text: string): string;
  /** Does the same in JSON data, in every text and every field name. */
  hideIn(value: unknown): unknown;
  /** Whether there is a value to hide. */
  readonly some: boolean;
}

export function createSecrets(): Secrets {
  const references = new Map<string, string>();
  let longestFirst: readonly string[] = [];

  const hide = (text: string): string =>
    longestFirst.reduce((hidden, value) => hidden.replaceAll(value, references.get(value) ?? ''), text);

  function hideIn(value: unknown): unknown {
    if (typeof value === 'string') return hide(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(hideIn);
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [hide(key), hideIn(field)]));
  }

  return {
    add(name, value) {
      if (value.length < MIN_SECRET_LENGTH) return;
      // The value itself, and its form in a URL.
      for (const form of new Set([value, encodeURIComponent(value.toWellFormed())])) {
        if (!references.has(form)) references.set(form, `\${${name}}`);
      }
      longestFirst = [...references.keys()].sort((a, b) => b.length - a.length);
    },
    hide,
    hideIn,
    get some() {
      return references.size > 0;
    },
  };
}

/** Remembers the password of a URL, so that it is hidden wherever the URL is shown. */
export function addPassword(source: unknown, secrets: Secrets): void {
  if (typeof source !== 'string' || !URL.canParse(source)) return;
  const { password } = new URL(source);
  secrets.add('PASSWORD', password);
  try {
    secrets.add('PASSWORD', decodeURIComponent(password));
  } catch {
    // The password contains an invalid escape, so it has no decoded form.
  }
}
