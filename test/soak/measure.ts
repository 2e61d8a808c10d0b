/** Measures the resources of this process. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of the heap in use after garbage collections. */
export async function heapInUse(): Promise<number> {
  // Objects of the last turns become garbage only after some more turns.
  for (let times = 0; times < 5; times++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    collect();
  }
  return process.memoryUsage().heapUsed;
}

/** Open handles by kind: sockets, servers, child processes, watchers, timers. */
export function openHandles(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Kinds of which there are more than before. */
export const moreThan = (before: Readonly<Record<string, number>>, after = openHandles()): readonly string[] =>
  Object.entries(after).flatMap(([kind, count]) => (count > (before[kind] ?? 0) ? [`${kind}: ${count}`] : []));
