/** Merges two orders of places into one, by reciprocal rank fusion: a place near the top of both comes first. */
import type { Place } from './ranking.ts';

/** The most places of the first order that are merged; the others follow in their order. */
const MOST = 50;

/** The constant of the fusion: the larger it is, the less the rank of a place matters. 60 is the usual value. */
const FLATNESS = 60;

/** A place, and whether it was found by meaning alone. */
export type FusedPlace = Place & { readonly meant: boolean };

/**
 * @param ranked places by words, best first
 * @param near places by meaning, best first; if there are none, the first order is given as it is
 */
export async function* fused(
  ranked: AsyncGenerator<Place>,
  near: readonly Place[],
): AsyncGenerator<FusedPlace, void, undefined> {
  const places = new Map<string, { readonly place: FusedPlace; readonly score: number }>();
  if (near.length > 0) {
    for (let at = 0; at < MOST; at++) {
      const { value: place, done } = await ranked.next();
      if (done === true) break;
      places.set(place.uri, { place: { ...place, meant: false }, score: 1 / (FLATNESS + at) });
    }
    for (const [at, place] of near.entries()) {
      const before = places.get(place.uri);
      const score = (before?.score ?? 0) + 1 / (FLATNESS + at);
      places.set(place.uri, { place: before?.place ?? { ...place, meant: true }, score });
    }
    const sorted = [...places.entries()].sort(([a, one], [b, other]) => other.score - one.score || (a < b ? -1 : 1));
    for (const [, { place }] of sorted) yield place;
  }
  for await (const place of ranked) if (!places.has(place.uri)) yield { ...place, meant: false };
}
