/** `vitrine watch`: a line for each change, until it is ended. */
import type { Watch, WatchEvent } from '../../client/events.ts';
import type { Secrets } from '../../config/secrets.ts';
import { onServer, type ServerFlags, type Session } from './connect.ts';
import { EXIT_OK } from './exit-codes.ts';
import { countOf } from './numbers.ts';
import { type Output, safe } from './output.ts';
import { urisOf } from './references.ts';

export interface WatchFlags extends ServerFlags {
  /** Changes after which it ends. */
  readonly count?: string;
}

/** An event, and when it was told. */
type Told = WatchEvent & { readonly at: string; readonly watched?: string };

export const watch = (
  server: string,
  references: readonly string[],
  flags: WatchFlags,
  secrets: Secrets,
): Promise<void> =>
  onServer(server, flags, secrets, async (session) => {
    const { output } = session;
    const most = countOf(flags.count, '--count', Number.POSITIVE_INFINITY);
    const uris = await urisOf(references, session);
    await output.list(toldOf(uris, most, session), (event) => line(event, output));
    return EXIT_OK;
  });

async function* toldOf(uris: readonly string[], most: number, session: Session): AsyncGenerator<Told> {
  const { resources, signal, output } = session;
  const watched: readonly (string | undefined)[] = uris.length === 0 ? [undefined] : uris;
  const watches = watched.map((uri) => ({
    uri,
    watch: uri === undefined ? resources.watchList({ signal }) : resources.watch(uri, { signal }),
  }));
  try {
    for (const each of watches) each.watch.ready.catch(() => {});
    await Promise.all(watches.map((each) => each.watch.ready));
    output.note(`watching ${uris.length === 0 ? 'what there is' : uris.join(', ')}`);
    let count = 0;
    for await (const { event, uri } of merged(watches)) {
      const other = event.kind === 'updated' && event.uri === uri ? undefined : uri;
      yield { at: new Date().toISOString(), ...event, ...(other !== undefined && { watched: other }) };
      if (++count >= most) return;
    }
  } finally {
    await Promise.all(watches.map((each) => each.watch.close()));
  }
}

interface Watched {
  readonly uri: string | undefined;
  readonly watch: Watch;
}

/** The next event of any of them, as it comes. */
async function* merged(
  watches: readonly Watched[],
): AsyncGenerator<{ readonly event: WatchEvent; readonly uri: string | undefined }> {
  const running = new Map(
    watches.map(({ uri, watch: each }) => {
      const events = each[Symbol.asyncIterator]();
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

function line(event: Told, output: Output): string {
  const { kind, at, watched } = event;
  const time = output.paint('dim', at);
  if (kind === 'updated') {
    const below = watched === undefined ? '' : output.paint('dim', `  below ${safe(watched)}`);
    return `${time}  ${output.paint('green', 'updated')}  ${safe(event.uri)}${below}`;
  }
  const where = watched === undefined ? '' : `  ${safe(watched)}`;
  if (kind === 'list-changed') return `${time}  ${output.paint('blue', 'list-changed')}${where}`;
  return `${time}  ${output.paint('yellow', 'missed')}  ${event.reason}${where}`;
}
