/** Values that came from the environment, so that nothing that is printed or logged has one of them in it. */

/** Values that are shorter are in every other word, and hide nothing. */
const MIN_SECRET_LENGTH = 4;

export interface Secrets {
  /** Remembers what a reference stands for. */
  add(name: string, value: string): void;
  /** The text with each value as the reference that it came from. */
  hide(text: string): string;
  /** The same for JSON data: every text in it. */
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
      // As it may stand in a URL too.
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
    // It has a percent sign in it that is none of an escape: it is what it is.
  }
}
