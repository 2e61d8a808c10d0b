/** Subscribes to everything in `docs`, changes all of it, and checks the notices. */
import type { Scene } from './scene.ts';

/** How long to wait for a notice that has to come, and for one that must not come, in milliseconds. */
const PATIENCE_MS = 5_000;
const SILENCE_MS = 10;

export async function checkUpdates({ asker, reference, things, touch }: Scene): Promise<readonly string[]> {
  const watched = things.filter(
    ({ mount, kind, inUri }) => mount === 'docs' && kind === 'text' && inUri.startsWith('-d'),
  );
  const before = watched.filter((thing) => reference.of('subscribe', thing) === 'allow');
  const stream = await asker.listen(watched.map(({ uri }) => uri));
  try {
    // Each resource gets another type, so rules may now decide otherwise.
    const after = watched.map((thing) => ({ ...thing, mimeType: 'application/x-changed' }));
    for (const thing of after) touch(thing, thing.mimeType);
    const told = after.filter(
      (thing) => reference.of('subscribe', thing) === 'allow' && before.some(({ uri }) => uri === thing.uri),
    );
    const found: string[] = [];
    for (const { uri } of told) {
      if (!(await stream.came(updateOf(uri), PATIENCE_MS))) found.push(`updates: not told of ${uri}`);
    }
    await stream.came('nothing', SILENCE_MS);
    const text = stream.text();
    for (const { uri } of after) {
      if (text.includes(updateOf(uri)) && !told.some((each) => each.uri === uri)) found.push(`updates: told of ${uri}`);
    }
    return found;
  } finally {
    await stream.close();
    for (const thing of watched) touch(thing, thing.mimeType);
  }
}

/** Matches the URI as a notification contains it, and no other text. */
const updateOf = (uri: string): string => `"params":{"uri":${JSON.stringify(uri)}`;
