/** Laws of reads of windows: a window has the same bytes as that part of the whole, and gives its offset and the total. */
import assert from 'node:assert/strict';
import { createContext } from '../../core/context.ts';
import type { ByteRange } from '../../core/provider.ts';
import { busiestContainer, largestLeaf, type ProviderFixture } from '../fixture.ts';
import type { ProviderLaw } from '../law.ts';
import { EVERYTHING, readLeaf, refusal } from '../observe.ts';

/** Leaves up to this size are read in all possible windows. */
const EVERY_WINDOW_BYTES = 16;

/** The lengths of the windows of a large leaf: a little less than a usual chunk, exactly one, and a little more than two. */
const LENGTHS: readonly number[] = [60_001, 65_536, 131_073];

export const windowLaws: readonly ProviderLaw[] = [
  {
    name: 'every window of a small leaf is that part of the whole, with its place and the total',
    feature: 'ranges',
    applies: (fixture) => smallLeaves(fixture).length > 0 || `No leaf has 1 to ${EVERY_WINDOW_BYTES} bytes`,
    async check(fixture) {
      for (const path of smallLeaves(fixture)) {
        const total = fixture.leaves.get(path)?.byteLength ?? 0;
        for (let offset = 0; offset <= total; offset++) {
          await checkWindow(fixture, path, { offset });
          for (let length = 1; length <= total - offset + 1; length++) {
            await checkWindow(fixture, path, { offset, length });
          }
        }
      }
    },
  },
  {
    name: 'windows of a large leaf, one after the other, are the whole',
    feature: 'ranges',
    async check(fixture) {
      const path = largestLeaf(fixture);
      const whole = new Uint8Array(fixture.leaves.get(path) ?? []);
      for (const length of LENGTHS) {
        const parts: Uint8Array[] = [];
        for (let offset = 0; offset < whole.byteLength; offset += length) {
          parts.push(await checkWindow(fixture, path, { offset, length }));
        }
        assert.deepEqual(new Uint8Array(Buffer.concat(parts)), whole, `Windows of ${length}`);
      }
    },
  },
  {
    name: 'a window that begins at the end is empty; one that begins after it is refused as invalid',
    feature: 'ranges',
    async check(fixture) {
      for (const [path, bytes] of fixture.leaves) {
        const uri = fixture.uriOf(path);
        const end = await readLeaf(fixture.provider, uri, { offset: bytes.byteLength, length: 10 });
        assert.equal(end.bytes.byteLength, 0, `The end of ${uri}`);
        for (const range of [{ offset: bytes.byteLength + 1 }, { offset: bytes.byteLength + 1_000, length: 1 }]) {
          const what = `A window of ${uri} from ${range.offset} of ${bytes.byteLength}`;
          await refusal(() => readLeaf(fixture.provider, uri, range), ['invalid'], what);
        }
      }
    },
  },
  {
    name: 'a container has no bytes to take a window of',
    feature: 'ranges',
    applies: (fixture) => busiestContainer(fixture) !== undefined || 'The fixture has no containers',
    async check(fixture) {
      const uri = fixture.uriOf(busiestContainer(fixture) ?? '');
      const want = { ...EVERYTHING, range: { offset: 0, length: 10 } };
      await refusal(() => fixture.provider.read(uri, want, createContext()), ['invalid'], 'A window of a container');
    },
  },
];

const smallLeaves = (fixture: ProviderFixture): string[] =>
  [...fixture.leaves]
    .filter(([, { byteLength }]) => byteLength > 0 && byteLength <= EVERY_WINDOW_BYTES)
    .map(([path]) => path);

async function checkWindow(fixture: ProviderFixture, path: string, range: ByteRange): Promise<Uint8Array> {
  const whole = new Uint8Array(fixture.leaves.get(path) ?? []);
  const uri = fixture.uriOf(path);
  const { bodies, bytes, window } = await readLeaf(fixture.provider, uri, range);
  const { offset, length } = range;
  const what = `The window of ${uri} from ${offset}, ${length ?? 'all'} bytes,`;
  assert.deepEqual(bytes, whole.slice(offset, length === undefined ? undefined : offset + length), what);
  assert.equal(window?.offset, offset, `${what} has the wrong offset`);
  assert.equal(window?.total, whole.byteLength, `${what} has the wrong total`);
  const size = bodies[0]?.resource.size;
  assert.ok(size === undefined || size === whole.byteLength, `${what} has the size ${size}, not that of the whole`);
  return bytes;
}
