/** One server of the fleet has this stock: resources that stay, and guests among them that come and go. */

/**
 * @typedef {object} Style how a server gives its lists
 * @property {'name' | 'offset'} by what its cursors say
 * @property {number} size entries of a page of its own
 * @property {'opaque' | 'path'} [uris]
 * @property {boolean} [tells] whether it tells of changes
 * @property {number} [ttlMs] how long its answers may be used again
 * @property {'lists' | 'second page'} [hangs]
 * @property {boolean} [loops] its cursors begin again
 */

/** Every tenth resource at the start is a guest. */
const GUEST_EVERY = 10;

/** The places at which a change removes a guest, if one is there. It adds a tenth as many guests. */
const MOVING = 20;

/** Resources of a server at the start. */
export const INITIAL = 5_000;

/**
 * @param {string} name
 * @param {Style} style
 * @param {number} [count]
 */
export function createStock(name, style, count = INITIAL) {
  let born = 0;
  /** How far the list has been read. */
  let given = 0;
  let seed = [...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % 2_147_483_647;
  /** Keys in the order of the list. */
  const keys = Array.from({ length: count }, (_, index) => keyOf(index, index % GUEST_EVERY === 3));

  /** The same numbers in each run. @param {number} below */
  function chance(below) {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  }

  /**
   * The first place that may change. An offset would lose or repeat entries if some before it changed, so only later ones
   * change.
   */
  const from = () => (style.by === 'offset' ? Math.min(given, keys.length - 1) : 0);

  return {
    name,
    style,
    keys,
    entryOf: (/** @type {string} */ key) => resourceOf(name, key, style),
    /** Removes and adds some guests: anywhere in the list, or only behind the last page that was read if cursors are offsets. */
    change() {
      for (let moved = 0; moved < MOVING; moved++) {
        const at = from() + chance(keys.length - from());
        if (keys[at]?.endsWith('guest')) keys.splice(at, 1);
      }
      for (let moved = 0; moved < MOVING / GUEST_EVERY; moved++) {
        let at = from() + chance(keys.length - from());
        const beside = (keys[at] ?? '').slice(0, 5);
        while (keys[at + 1]?.startsWith(beside)) at++;
        keys.splice(at + 1, 0, `${beside}.${String(++born).padStart(6, '0')}-guest`);
      }
    },
    /** One page of any list of this server. @param {readonly string[]} all @param {string | undefined} cursor */
    page(all, cursor) {
      const start = cursor === undefined ? 0 : startOf(all, cursor);
      const end = start + style.size;
      if (all === keys) given = end;
      const last = all[end - 1];
      const next = style.by === 'offset' ? `${end}` : last;
      if (style.loops) return { page: all.slice(start, end), nextCursor: end < all.length ? next : '1' };
      return { page: all.slice(start, end), ...(end < all.length && { nextCursor: next }) };
    },
  };

  /** @param {readonly string[]} all @param {string} cursor */
  function startOf(all, cursor) {
    if (style.by === 'offset') return Number(cursor);
    const found = all.findIndex((key) => key > cursor);
    return found === -1 ? all.length : found;
  }
}

/** @param {number} index @param {boolean} isGuest */
const keyOf = (index, isGuest) => `${String(index).padStart(5, '0')}-${isGuest ? 'guest' : 'stay'}`;

/** A resource with every field that one can have. @param {string} name @param {string} key @param {Style} style */
function resourceOf(name, key, { uris }) {
  return {
    uri: uris === 'opaque' ? `urn:part:${key}` : `https://${name}.example/parts/${key}?view=all#top`,
    name: `Part ${key}`,
    title: `Part ${key} of ${name}`,
    description: `One of the parts that ${name} has in its store, with all that can be said of it: ${key}`,
    mimeType: 'text/plain',
    size: Number(key.slice(0, 5)),
    annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-01-02T03:04:05Z' },
    icons: [{ src: 'https://example.com/part.png', mimeType: 'image/png', sizes: ['48x48'] }],
    _meta: { 'example.com/shelf': key.slice(0, 2), 'example.com/tags': ['part', name] },
  };
}
