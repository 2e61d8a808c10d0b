/** Filters and sorts entries in time slices, so that no keystroke waits for a large folder. */

import { typeText } from '../../frontends/explorer/kinds.ts';
import type { Resource } from '../../protocol/resources.ts';

/** Milliseconds of one time slice. */
const SLICE_MS = 12;

/** The number of entries that are sorted at once. */
const RUN = 2_048;

type Key = string | number;

const KEYS: Readonly<Record<string, (entry: Resource) => Key>> = {
  name: ({ name }) => name.toLowerCase(),
  type: typeText,
  size: ({ size }) => size ?? -1,
  changed: ({ annotations }) => annotations?.lastModified ?? '',
};

export const SORTS = ['name', 'type', 'size', 'changed'] as const;

/** @returns undefined where the signal was aborted */
export async function arranged(
  entries: readonly Resource[],
  { filter, sort }: { readonly filter?: string | undefined; readonly sort?: string | undefined },
  signal: AbortSignal,
): Promise<readonly Resource[] | undefined> {
  const pause = pauses(signal);
  let found = entries;
  if (filter !== undefined) {
    const wanted = filter.toLowerCase();
    const fitting: Resource[] = [];
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at];
      if (entry !== undefined && `${entry.name}\n${entry.title ?? ''}`.toLowerCase().includes(wanted))
        fitting.push(entry);
      if (at % RUN === 0 && (await pause())) return undefined;
    }
    found = fitting;
  }
  const key = KEYS[sort?.replace(/^-/, '') ?? ''];
  if (key === undefined || sort === undefined) return found;
  const sign = sort.startsWith('-') ? -1 : 1;
  let runs: (readonly (readonly [Key, Resource])[])[] = [];
  for (let at = 0; at < found.length; at += RUN) {
    const run = found.slice(at, at + RUN).map((each) => [key(each), each] as const);
    runs.push(run.sort(([a], [b]) => sign * compare(a, b)));
    if (await pause()) return undefined;
  }
  while (runs.length > 1) {
    const merged: typeof runs = [];
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(merge(runs[at] ?? [], runs[at + 1] ?? [], sign));
      if (await pause()) return undefined;
    }
    runs = merged;
  }
  return (runs[0] ?? []).map(([, each]) => each);
}

function merge<T>(a: readonly (readonly [Key, T])[], b: readonly (readonly [Key, T])[], sign: number) {
  const all: (readonly [Key, T])[] = [];
  let at = 0;
  for (const each of a) {
    for (let next = b[at]; next !== undefined && sign * compare(next[0], each[0]) < 0; next = b[++at]) all.push(next);
    all.push(each);
  }
  for (; at < b.length; at++) {
    const next = b[at];
    if (next !== undefined) all.push(next);
  }
  return all;
}

const compare = (a: Key, b: Key): number => (a < b ? -1 : a > b ? 1 : 0);

/** Lets the browser draw after each time slice. @returns a function that says whether to give up */
function pauses(signal: AbortSignal): () => Promise<boolean> | boolean {
  let began = performance.now();
  return () => {
    if (signal.aborted || performance.now() - began < SLICE_MS) return signal.aborted;
    return new Promise((resolve) =>
      setTimeout(() => {
        began = performance.now();
        resolve(signal.aborted);
      }),
    );
  };
}
