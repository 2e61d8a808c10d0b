/**
 * The programs of `bench/providers` share this. Each exports `client`, the client that its provider is measured beside, `missing()`,
 * why it cannot be measured here, and `open(load)`, which makes the data and both sides and returns
 * `{ turns: { list: { ours, native }, read: { ours, native } }, close }`.
 *
 * `ours(index)` and `native(index)` do the thing once, and return what they got: entries of a list, bytes of a read.
 * `native` is left out where there is nothing to compare with; `before()` comes before each turn of ours, and is not
 * counted. `load('providers/git.js')` imports from the build.
 */
import { prose } from './folders.mjs';

/** Entries of a page. */
export const ENTRIES = 100;

/** Resources that are read in turn. */
export const RESOURCES = 100;

/** Bytes of a resource; one that is generated around a text has a few more. */
export const BYTES = 1_024;

/** How many calls run at a time, on both sides, as at a server with a few clients. */
export const AT_A_TIME = 8;

export const TEXT = prose(BYTES);

/** @param {number} index of a resource, counted on for ever */
export const nameOf = (index) => `item-${String(index % RESOURCES).padStart(3, '0')}.txt`;

/** Names of all resources. */
export const names = () => Array.from({ length: RESOURCES }, (_, index) => nameOf(index));

/** @typedef {(path: string) => Promise<any>} Load */

/**
 * Returns functions that ask a provider.
 * @param {Load} load
 */
export async function asking(load) {
  const { createContext } = await load('index.js');
  const ctx = createContext();
  return {
    /** Entries of one page. */
    async page(provider, uri, cursor) {
      return (await provider.list(uri, { limit: ENTRIES, cursor }, ctx)).resources.length;
    },
    /** Lists the first page. @returns the cursor of the second */
    async second(provider, uri) {
      return (await provider.list(uri, { limit: ENTRIES }, ctx)).nextCursor;
    },
    /** Bytes of one resource, drained; those of one format if `accept` names it. */
    async bytes(provider, uri, accept) {
      let bytes = 0;
      for (const { content } of await provider.read(uri, { maxBytes: 1_048_576, maxChildren: 0, accept }, ctx)) {
        if (content.kind === 'bytes') bytes += content.bytes.byteLength;
        else for await (const chunk of content.open()) bytes += chunk.byteLength;
      }
      return bytes;
    },
  };
}

/**
 * Repeats work for a time, `AT_A_TIME` calls at once, and checks the result of each.
 * @param {(index: number) => number | Promise<number>} work
 * @param {{ms: number, least: number, most: number}} how the shortest time; the bounds of a result
 * @returns {Promise<number>} calls per second
 */
export async function rate(work, { ms, least, most }) {
  const started = performance.now();
  const until = started + ms;
  let next = 0;
  const one = async () => {
    do {
      const got = await work(next++);
      if (got < least || got > most) throw new Error(`${got} instead of ${least} to ${most}`);
    } while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, one));
  return next / ((performance.now() - started) / 1_000);
}
