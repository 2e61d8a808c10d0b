/** `vitrine watch`: prints a line for each change until the user ends it. */
import type { Watch, WatchEvent } from '../../client/events.ts';
import type { Secrets } from '../../config/secrets.ts';
import { EXIT_OK } from './exit-codes.ts';
import { countOf } from './printing/numbers.ts';
import { type Output, safe } from './printing/output.ts';
import { onServer, type ServerFlags, type Session } from './reaching/connect.ts';
import { urisOf } from './references.ts';

export interface WatchFlags extends ServerFlags {
  /** The number of changes after which the command ends. */
  readonly count?: string;
}

/** A resource that was added or removed. */
type Difference = { readonly kind: 'added'; readonly uri: string } | { readonly kind: 'removed'; readonly uri: string };

/** An event with its time (ISO 8601), and the URI of the watch unless the event has the same. */
type TimedEvent = (WatchEvent | Difference) & { readonly at: string; readonly watched?: string };

/** Prints changes of the named resources, or of the list of resources if none are named. */
export const watch = (
  server: string,
  references: readonly string[],
  flags: WatchFlags,
  secrets: Secrets,
): Promise<void> =>
  onServer(server, flags, secrets, async (session) => {
    const { output } = session;
    const maxEvents = countOf(flags.count, '--count', Number.POSITIVE_INFINITY);
    const uris = await urisOf(references, session);
    await output.list(eventsOf(uris, maxEvents, session), (event) => line(event, output));
    return EXIT_OK;
  });

async function* eventsOf(uris: readonly string[], maxEvents: number, session: Session): AsyncGenerator<TimedEvent> {
  const { resources, signal, output } = session;
  const watched: readonly (string | undefined)[] = uris.length === 0 ? [undefined] : uris;
  const watches = watched.map((uri) => ({
    uri,
    watch: uri === undefined ? resources.watchList({ signal }) : resources.watch(uri, { signal }),
  }));
  try {
    for (const { watch } of watches) watch.ready.catch(() => {});
    await Promise.all(watches.map(({ watch }) => watch.ready));
    let listed = uris.length === 0 ? await listedNow(session) : undefined;
    output.note(`watching ${uris.length === 0 ? 'the list of resources' : uris.join(', ')}`);
    let count = 0;
    for await (const { event, uri } of merged(watches)) {
      const at = new Date().toISOString();
      const otherUri = event.kind === 'updated' && event.uri === uri ? undefined : uri;
      let printed: readonly (WatchEvent | Difference)[] = [event];
      if (listed !== undefined && event.kind !== 'updated') {
        const now = await listedNow(session);
        const differences = differencesOf(listed, now);
        listed = now;
        // Without differences the event itself is printed: names may have changed, or resources beyond the depth of a walk.
        if (event.kind === 'missed') printed = [event, ...differences];
        else if (differences.length > 0) printed = differences;
      }
      for (const one of printed) {
        yield { at, ...one, ...(otherUri !== undefined && { watched: otherUri }) };
        if (++count >= maxEvents) return;
      }
    }
  } finally {
    await Promise.all(watches.map(({ watch }) => watch.close()));
  }
}

/** Returns the URIs of all resources that a walk reaches. */
async function listedNow({ resources, signal }: Session): Promise<ReadonlySet<string>> {
  const uris = new Set<string>();
  for await (const { resource } of resources.walk(undefined, { signal })) uris.add(resource.uri);
  return uris;
}

function differencesOf(before: ReadonlySet<string>, now: ReadonlySet<string>): readonly Difference[] {
  const missing = (from: ReadonlySet<string>, other: ReadonlySet<string>): string[] =>
    [...from].filter((uri) => !other.has(uri));
  return [
    ...missing(before, now).map((uri) => ({ kind: 'removed', uri }) as const),
    ...missing(now, before).map((uri) => ({ kind: 'added', uri }) as const),
  ];
}

interface Watched {
  readonly uri: string | undefined;
  readonly watch: Watch;
}

/** Merges the events of several watches, in the order in which they come. */
async function* merged(
  watches: readonly Watched[],
): AsyncGenerator<{ readonly event: WatchEvent; readonly uri: string | undefined }> {
  const running = new Map(
    watches.map(({ uri, watch }) => {
      const events = watch[Symbol.asyncIterator]();
      const next = async () => ({ uri, next, result: await events.next() });
      return [next, next()] as const;
    }),
  );
  while (running.size > 0) {
    const { uri, next, result } = await Promise.race(running.values());
    if (result.done === true) running.delete(next);
    else {
      running.set(next, next());
      yield { event: result.value, uri };
    }
  }
}

function line(event: TimedEvent, output: Output): string {
  const { kind, at, watched } = event;
  const time = output.paint('dim', at);
  if (kind === 'updated') {
    const below = watched === undefined ? '' : output.paint('dim', `  below ${safe(watched)}`);
    return `${time}  ${output.paint('green', 'updated')}  ${safe(event.uri)}${below}`;
  }
  if (kind === 'added' || kind === 'removed')
    return `${time}  ${output.paint(kind === 'added' ? 'green' : 'red', kind)}  ${safe(event.uri)}`;
  const where = watched === undefined ? '' : `  ${safe(watched)}`;
  if (kind === 'list-changed') return `${time}  ${output.paint('blue', 'list-changed')}${where}`;
  return `${time}  ${output.paint('yellow', 'missed')}  ${event.reason}${where}`;
}
