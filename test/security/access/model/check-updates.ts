/** Subscribes to everything in `docs`, changes all of it, and compares what is told. */
import type { Scene } from './scene.ts';

/** How long something that should come is waited for, and something that should not, in milliseconds. */
const PATIENCE_MS = 5_000;
const SILENCE_MS = 10;

export async function checkUpdates({ asker, reference, things, touch }: Scene): Promise<readonly string[]> {
  const watched = things.filter(
    ({ mount, kind, inUri }) => mount === 'docs' && kind === 'text' && inUri.startsWith('-d'),
  );
  const before = watched.filter((thing) => reference.of('subscribe', thing) === 'allow');
  const stream = await asker.listen(watched.map(({ uri }) => uri));
  try {
    // Each becomes of another type, by which rules may decide otherwise than before.
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

/** As it stands in a notification, and in nothing else. */
const updateOf = (uri: string): string => `"params":{"uri":${JSON.stringify(uri)}`;
