/**
 * Prints the results of a command: lines for people, with colour on terminals; one JSON array or document, or JSON
 * lines, for programs. Text of a server is cleaned before it reaches a terminal, except by `cat --force`.
 */
import { once } from 'node:events';
import { forTerminal } from '../../../client/safety/terminal.ts';
import type { Secrets } from '../../../config/secrets.ts';

export interface OutputFlags {
  /** One JSON array for lists, one document for anything else. */
  readonly json?: boolean;
  /** One JSON value a line. */
  readonly jsonl?: boolean;
  readonly color?: 'auto' | 'always' | 'never';
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

const SGR: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
};

/** The reader of the output has closed it, as `head` does. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed';
}

export interface Output {
  readonly form: 'human' | 'json' | 'jsonl';
  /** Whether standard output is a terminal. */
  readonly terminal: boolean;
  /** Colours a text if colour is on. The text has to be safe already. */
  paint(style: Style, text: string): string;
  /** Prints text and a line feed. Text of a server has to go through `safe` or `safeLines` first. */
  line(text: string): Promise<void>;
  /** Writes bytes or text, and adds no line feed. */
  write(data: Uint8Array | string): Promise<void>;
  /** Prints a list, each entry as it arrives. @param human lines for people; undefined prints nothing for it */
  list<T>(entries: AsyncIterable<T> | Iterable<T>, human: (entry: T) => string | undefined): Promise<void>;
  /** Prints one document. @param human lines for people */
  document(value: unknown, human: () => string): Promise<void>;
  /** Prints one line for people on standard error, such as what was left out, and why. */
  note(text: string): void;
  /** Shows progress on standard error if that is a terminal, replacing the last text. Without a text: clears it. */
  progress(text?: string): void;
  /** Clears the progress, and stops watching standard output. */
  close(): void;
}

/** @param onClosed called when the reader has closed the output */
export function createOutput(flags: OutputFlags, secrets: Secrets, onClosed: () => void = () => {}): Output {
  const form = flags.jsonl === true ? 'jsonl' : flags.json === true ? 'json' : 'human';
  const { stdout, stderr, env } = process;
  const terminal = stdout.isTTY === true;
  const coloured = hasColour(flags.color ?? 'auto', terminal, env);
  let closed = false;
  let shown = false;
  const failed = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
    closed = true;
    onClosed();
  };
  stdout.on('error', failed);

  function progress(text?: string): void {
    if (stderr.isTTY !== true || (text === undefined && !shown)) return;
    shown = text !== undefined;
    const width = Math.max(20, (stderr.columns || 80) - 1);
    stderr.write(`\r\u001b[K${text === undefined ? '' : safe(text).slice(0, width)}`);
  }

  async function write(data: Uint8Array | string): Promise<void> {
    if (closed) throw new OutputClosed();
    if (terminal) progress();
    if (data.length === 0 || stdout.write(data)) return;
    // If the reader has closed the output, the stream emits an error, and `failed` sets `closed`.
    await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(() => {});
    if (closed) throw new OutputClosed();
  }

  const line = (text: string): Promise<void> => write(`${text}\n`);

  return {
    form,
    terminal,
    paint(style, text) {
      if (!coloured || text === '') return text;
      const [on, off] = SGR[style];
      return `\u001b[${on}m${text}\u001b[${off}m`;
    },
    line,
    write,
    async list(entries, human) {
      if (form !== 'json') {
        for await (const entry of entries) {
          const text = form === 'jsonl' ? jsonText(entry) : human(entry);
          if (text !== undefined) await line(text);
        }
        return;
      }
      let before = '[';
      try {
        for await (const entry of entries) {
          await write(`${before}\n${indented(jsonText(entry, 2))}`);
          before = ',';
        }
      } finally {
        // A list that broke off is still valid JSON; the exit status says that it is incomplete.
        if (!closed) await write(before === '[' ? '[]\n' : '\n]\n');
      }
    },
    document: (value, human) => {
      const text = form === 'human' ? human() : jsonText(value, form === 'json' ? 2 : undefined);
      return text === '' ? Promise.resolve() : line(text);
    },
    note(text) {
      progress();
      stderr.write(`vitrine: ${safe(secrets.hide(text))}\n`);
    },
    progress,
    close() {
      progress();
      // A pipe may break after the last write, so the listener stays if something is not flushed yet.
      if (stdout.writableLength === 0) stdout.off('error', failed);
    },
  };
}

/** https://no-color.org */
function hasColour(when: 'auto' | 'always' | 'never', terminal: boolean, env: NodeJS.ProcessEnv): boolean {
  if (when !== 'auto') return when === 'always';
  return terminal && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
}

/** Cleans a server's text to one line without terminal escapes. */
export const safe = (text: string): string => forTerminal(text);

/** The same, but keeps line ends. */
export const safeLines = (text: string): string => forTerminal(text, { lines: true });

/** Characters that JSON need not escape, but that terminals act on or do not show. */
const UNSEEN =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g;

/** Writes JSON whose text is safe on a terminal; the value stays the same. */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value ?? null, undefined, indent);
  return text.replace(UNSEEN, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );
}

/** Writes any value of a server as a text: JSON, unless it is a text already. `String` throws for some objects. */
export const valueText = (value: unknown): string => (typeof value === 'string' ? value : jsonText(value));

const indented = (text: string): string => text.replace(/^/gm, '  ');
