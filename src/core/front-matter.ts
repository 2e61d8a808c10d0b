/** Splits YAML between two lines of `---` off the head of a text, and parses it within limits. */
import type { Document } from 'yaml';

const FENCE = '---';

/** The most characters of a head by default. While it is parsed, nothing else runs. */
export const MAX_HEAD = 16 * 1024;

/** The most aliases in a head. */
const MAX_ALIASES = 100;

/** A fault in a text, with its line. It goes to the log, for the author of the text, and not to a client. */
export class LineFault extends Error {
  override readonly name: string = 'LineFault';
  /** The number of the line in the text, from 1. */
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

export interface FrontMatter {
  /** The text between the two lines; undefined if the text has no head. */
  readonly head: string | undefined;
  readonly body: string;
  /** How many lines come before the body. */
  readonly before: number;
}

/** Splits a text; one without a head is all body. @throws LineFault for a head without an end */
export function splitFrontMatter(text: string): FrontMatter {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/);
  if (lines[0]?.trimEnd() !== FENCE) return { head: undefined, body: lines.join('\n'), before: 0 };
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === FENCE);
  if (end === -1) throw new LineFault(`the front matter has no end: a line of ${FENCE}`, 1);
  return { head: lines.slice(1, end).join('\n'), body: lines.slice(end + 1).join('\n'), before: end + 1 };
}

export interface ParsedHead {
  readonly value: unknown;
  /** Returns the line of a value in the text, or of the nearest value around it. */
  lineOf(path: readonly PropertyKey[]): number;
}

/** `uniqueKeys` is off because the library compares every key with every other one. `assertSound` finds repeated keys faster. */
const YAML = { uniqueKeys: false, stringKeys: true, prettyErrors: false, logLevel: 'error' } as const;

/**
 * Parses a head as YAML 1.2.
 * @param maxLength the most characters
 * @throws LineFault for a head that is not YAML, is too long, has a key twice, or has too many levels or aliases
 */
export async function parseHead(head: string, maxLength = MAX_HEAD): Promise<ParsedHead> {
  if (head.length > maxLength) throw new LineFault(`the front matter has more than ${maxLength} characters`, 1);
  // The parser is loaded with the first head, so that a server without prompts and skills starts without it.
  const yaml = await import('yaml');
  const counter = new yaml.LineCounter();
  const lineAt = (offset: number): number => counter.linePos(offset).line + 1;
  try {
    const document = yaml.parseDocument(head, { ...YAML, lineCounter: counter });
    assertSound(document, yaml, lineAt);
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
    return { value, lineOf: (path) => lineAt(offsetOf(document, path)) };
  } catch (error) {
    if (error instanceof LineFault) throw error;
    // With too many levels the library overflows the stack; with too many aliases it throws an error of its own.
    const excess = error instanceof RangeError ? 'levels' : 'aliases';
    throw new LineFault(`the front matter has too many ${excess}`, 2);
  }
}

/** @throws LineFault for invalid YAML, a repeated key, and too many aliases */
function assertSound(document: Document, yaml: typeof import('yaml'), lineAt: (offset: number) => number): void {
  const [broken] = document.errors;
  if (broken !== undefined) throw new LineFault(broken.message, lineAt(broken.pos[0]));
  let aliases = 0;
  yaml.visit(document, {
    Alias(_key, node) {
      if (++aliases > MAX_ALIASES)
        throw new LineFault('the front matter has too many aliases', lineAt(node.range?.[0] ?? 0));
    },
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!yaml.isScalar(key)) continue;
        if (seen.has(key.value))
          throw new LineFault(`${JSON.stringify(key.value)} is there twice`, lineAt(key.range?.[0] ?? 0));
        seen.add(key.value);
      }
    },
  });
}

/** Returns the offset of a value, or of the nearest value around it. */
function offsetOf(document: { getIn(path: unknown[], keep: boolean): unknown }, path: readonly PropertyKey[]): number {
  for (let depth = path.length; depth >= 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true) as
      | { readonly range?: readonly number[] | null }
      | undefined;
    const offset = node?.range?.[0];
    if (offset !== undefined) return offset;
  }
  return 0;
}
