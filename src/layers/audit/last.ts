/** Reads the last lines of an audit from the end of its file, for those who run the server. */
import { constants, open } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { older } from './tail.ts';

/** The most lines that are given. */
export const MAX_LAST_LINES = 200;

/** The most bytes that are read, from the end of each file. */
export const MAX_LAST_BYTES = 262_144;

export interface LastLines {
  /** The parsed lines, the latest last. A damaged line is given as a text. */
  readonly lines: readonly unknown[];
  /** Whether there are older lines. */
  readonly more: boolean;
}

/** Reads the last lines. A file that does not exist has none. If the latest file is short, the file before it is read, too. */
export async function lastLines(file: string): Promise<LastLines> {
  const latest = await endOf(older(file, 0));
  const before = latest.more || latest.lines.length >= MAX_LAST_LINES ? undefined : await endOf(older(file, 1));
  const lines = [...(before?.lines ?? []), ...latest.lines];
  return {
    lines: lines.slice(-MAX_LAST_LINES).map(parsed),
    more: latest.more || before?.more === true || lines.length > MAX_LAST_LINES,
  };
}

interface End {
  readonly lines: readonly string[];
  readonly more: boolean;
}

const NOTHING: End = { lines: [], more: false };

/** The whole lines in the last bytes of a file. */
async function endOf(file: string): Promise<End> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (handle === undefined) return NOTHING;
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size === 0) return NOTHING;
    const from = Math.max(0, stats.size - MAX_LAST_BYTES);
    // One read may return fewer bytes than are there; a stream reads on.
    const text = await textOf(handle.createReadStream({ start: from, end: stats.size - 1, autoClose: false }));
    // The first line may be cut off, and the last one may still be being written.
    const begin = from === 0 ? 0 : text.indexOf('\n') + 1;
    const whole = text.slice(begin, Math.max(begin, text.lastIndexOf('\n')));
    return { lines: whole === '' ? [] : whole.split('\n'), more: from > 0 };
  } finally {
    await handle.close();
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}
