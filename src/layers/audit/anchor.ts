/**
 * Notes the head of the audit's chain in another place, again and again. Someone who can write the audit but not that place
 * cannot cut its end, remove its oldest files, or rewrite it without a trace.
 */
import { write } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Log } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import type { Link } from './chain.ts';

export interface AnchorOptions {
  /** A file, an `http:` or `https:` URL that is posted to, or `-` for standard error. */
  readonly to: string;
  /** Headers of the requests to a URL. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Seconds between two notes. Default: 60. */
  readonly everySeconds?: number | undefined;
}

export const DEFAULT_EVERY_SECONDS = 60;

/** How long after the start the head is noted for the first time, in milliseconds. */
const FIRST_MS = 1_000;

/** After a note that failed, the next try comes no later than this, in milliseconds. */
const RETRY_MS = 10_000;

/** How long the other place may take to accept a note, in milliseconds. */
const ANSWER_MS = 5_000;

/** How long the end of a server waits for its last note, in milliseconds. */
const CLOSE_MS = 2_000;

export interface Anchor {
  /** Notes the last head, once, and ends. */
  close(): Promise<void>;
}

const isUrl = (to: string): boolean => /^https?:\/\//i.test(to);

/** Returns the problem of a place, or undefined. The text does not show the URL, which may hold a secret. */
export function anchorProblem(to: string): string | undefined {
  if (!isUrl(to)) return /^[a-z][a-z0-9+.-]+:\/\//i.test(to) ? 'is not an http: or https: URL' : undefined;
  if (!URL.canParse(to)) return 'is not an http: or https: URL';
  const { username, password } = new URL(to);
  return username === '' && password === '' ? undefined : 'has a user or a password in it; say them in headers';
}

/** The options of an anchor that may be configured as a place alone. */
export const anchorOf = (anchor: string | AnchorOptions): AnchorOptions =>
  typeof anchor === 'string' ? { to: anchor } : anchor;

/** @param file of the audit. @throws ResourceError `invalid` for a place that is not valid, or is the audit's own file */
export function assertAnchor({ to, headers = {} }: AnchorOptions, file: string): void {
  const problem = anchorProblem(to);
  if (problem !== undefined) throw invalid(`audit.anchor: the place ${problem}`);
  if (file === '-')
    throw invalid('audit.anchor: on standard error each process has a chain of its own; name a file in audit.file');
  if (to === file)
    throw invalid('audit.anchor: the head is noted in another place than the audit itself; name another file');
  if (!isUrl(to) && Object.keys(headers).length > 0) throw invalid('audit.anchor: only a URL takes headers');
}

/** @param head returns the link of the last line that has been written */
export function createAnchor(options: AnchorOptions, head: () => Link, log: Log): Anchor {
  const { to, everySeconds = DEFAULT_EVERY_SECONDS } = options;
  const send = senderTo(options);
  // Only the origin is shown: the rest of a URL may be a secret.
  const shown = isUrl(to) ? new URL(to).origin : to;
  let noted = 0;
  let failing = false;
  let timer: NodeJS.Timeout | undefined;
  let noting: Promise<void> | undefined;
  const closing = new AbortController();

  async function note(signal: AbortSignal): Promise<void> {
    const { seq, hash } = head();
    if (seq === noted) return;
    try {
      await send(`${JSON.stringify({ anchor: 1, time: new Date().toISOString(), seq, head: hash })}\n`, signal);
      noted = seq;
      if (failing) log.warn('audit: the head is noted elsewhere again', { to: shown });
      failing = false;
    } catch (error) {
      if (closing.signal.aborted && signal !== ending) return;
      if (!failing) log.error('audit: the head cannot be noted elsewhere', { to: shown, reason: reasonOf(error) });
      failing = true;
    }
  }

  function wait(ms: number): void {
    timer = setTimeout(() => {
      noting = note(AbortSignal.any([closing.signal, AbortSignal.timeout(ANSWER_MS)])).finally(() => {
        noting = undefined;
        const every = everySeconds * 1_000;
        if (!closing.signal.aborted) wait(failing ? Math.min(every, RETRY_MS) : every);
      });
    }, ms).unref();
  }
  let ending: AbortSignal | undefined;
  wait(Math.min(FIRST_MS, everySeconds * 1_000));

  return {
    async close() {
      if (closing.signal.aborted) return;
      clearTimeout(timer);
      closing.abort();
      ending = AbortSignal.timeout(CLOSE_MS);
      const ended = new Promise<void>((resolve) => ending?.addEventListener('abort', () => resolve(), { once: true }));
      const last = async (signal: AbortSignal): Promise<void> => {
        await noting;
        await note(signal);
      };
      await Promise.race([last(ending), ended]);
    },
  };
}

type Send = (line: string, signal: AbortSignal) => Promise<void>;

const STDERR = 2;
const writeTo = promisify(write);

function senderTo({ to, headers = {} }: AnchorOptions): Send {
  if (to === '-')
    return async (line) => {
      await writeTo(STDERR, line);
    };
  if (!isUrl(to)) return (line) => appendFile(to, line, { mode: 0o600 });
  return async (body, signal) => {
    // A redirect could send the head and the headers to a place that is not configured.
    const init = { method: 'POST', redirect: 'manual', body, signal } as const;
    const response = await fetch(to, { ...init, headers: { ...headers, 'content-type': 'application/json' } });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`status ${response.status}`);
  };
}

/** The reason of an error, without its message, which may contain the address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { cause, message, name } = error as NodeJS.ErrnoException;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? (error as NodeJS.ErrnoException).code;
  if (/^status \d+$/.test(message)) return message;
  return typeof code === 'string' ? code : name;
}
