/** Chooses among several formats of one content. */

interface Wanted {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly place: number;
}

/**
 * Returns the index of the best of these MIME types, or undefined where none is acceptable. Of two equally good ones it takes the
 * first: a server sends its primary format first.
 * @param accept patterns in order of preference (`['text/markdown', 'text/*']`), or one text as in HTTP's `Accept`, with `q`
 */
export function bestFormat(types: readonly string[], accept: string | readonly string[]): number | undefined {
  const wanted = parse(accept);
  let best: { readonly at: number; readonly rank: number } | undefined;
  types.forEach((type, at) => {
    const rank = rankOf(type, wanted);
    if (rank !== undefined && (best === undefined || rank < best.rank)) best = { at, rank };
  });
  return best?.at;
}

function parse(accept: string | readonly string[]): readonly Wanted[] {
  const patterns = typeof accept === 'string' ? accept.split(',') : accept;
  return patterns
    .map((pattern, place) => {
      const [range = '', ...parameters] = pattern.toLowerCase().split(';');
      const [type = '', subtype = '*'] = range.trim().split('/');
      const q = parameters.map((each) => /^\s*q\s*=\s*([\d.]+)\s*$/.exec(each)?.[1]).find((each) => each !== undefined);
      return { type, subtype, quality: q === undefined ? 1 : Number(q), place };
    })
    .sort((a, b) => b.quality - a.quality || a.place - b.place);
}

/**
 * Returns the rank of a type, of which the lowest is best; undefined if the type is not acceptable. The most specific pattern for
 * a type decides, so that `q=0` excludes a type that `*\/*` accepts.
 */
function rankOf(mimeType: string, wanted: readonly Wanted[]): number | undefined {
  const [type = '', subtype = ''] = (mimeType.toLowerCase().split(';', 1)[0] ?? '').trim().split('/');
  const exactness = (each: Wanted): number => (each.type === '*' ? 0 : each.subtype === '*' ? 1 : 2);
  let chosen: number | undefined;
  wanted.forEach((each, rank) => {
    const matches = (each.type === '*' || each.type === type) && (each.subtype === '*' || each.subtype === subtype);
    if (!matches) return;
    const current = chosen === undefined ? undefined : wanted[chosen];
    if (current === undefined || exactness(each) > exactness(current)) chosen = rank;
  });
  return chosen === undefined || wanted[chosen]?.quality === 0 ? undefined : chosen;
}
