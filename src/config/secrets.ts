/** Hides values that came from the environment in all that is printed or logged. */

/** Shorter values are not hidden: they would be found in every other word. */
const MIN_SECRET_LENGTH = 4;

export interface Secrets {
  /** Remembers the value that a reference stands for. */
  add(name: string, value: string): void;
  /** Replaces each value in a text by the reference that it came from. */
  hide(text: string): string;
  /** Does the same in JSON data, for every text and every name of a field. */
  hideIn(value: unknown): unknown;
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
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [hide(key), hideIn(each)]));
  }

  return {
    add(name, value) {
      if (value.length < MIN_SECRET_LENGTH) return;
      // The value itself, and the value as a URL has it.
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
    // The password has a percent sign that begins no escape, so it has no decoded form.
  }
}
