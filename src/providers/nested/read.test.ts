/** Tests that a read that fails or is aborted holds nothing open. */
import { expect, it } from 'vitest';
import { until } from '../../../test/e2e/waiting.ts';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { memoryProvider } from '../memory/index.ts';
import { createOpenings, nestedProvider, type Outer } from './index.ts';
import type { FileKind } from './kind.ts';
import { MAX_WEIGHT } from './openings.ts';

const WANT = { maxBytes: 1_000, maxChildren: 10 };
const BUSY = new ResourceError('unavailable', 'The file system does not answer now; try again');

/** A provider whose bodies are open until they are closed. */
function counted(scheme: string) {
  const inner = memoryProvider({ scheme, resources: { 'a.pack': { text: 'pack' } } });
  const open = new Set<object>();
  const provider: ResourceProvider = {
    ...inner,
    async read(uri, want, ctx) {
      const bodies = await inner.read(uri, want, ctx);
      return bodies.map((body) => {
        open.add(body);
        return { ...body, close: async () => void open.delete(body) };
      });
    },
  };
  return { provider, open };
}

const kindOf = (inner: ResourceProvider): FileKind => ({
  key: 'pack',
  endings: ['.pack'],
  magic: Buffer.from('pack'),
  hasFiles: true,
  open: async () => ({ provider: inner, scheme: 'inner', weight: 1 }),
});

const place = { size: 4, file: '1', state: '1', open: () => Promise.reject(BUSY) };

it('closes the bodies of a file that cannot be recognised for the moment', async () => {
  const { provider, open } = counted('outer');
  const inner = memoryProvider({ scheme: 'inner' });
  let looks = 0;
  const outer: Outer = {
    provider,
    scheme: 'outer',
    // The first look finds no container, so the outer provider reads the file.
    place: () => (looks++ === 0 ? Promise.resolve(undefined) : Promise.reject(BUSY)),
  };
  const nested = nestedProvider({ outer, kinds: [kindOf(inner)], openings: createOpenings() });
  await expect(nested.read('outer:///a.pack', WANT, createContext())).rejects.toBe(BUSY);
  expect(open.size).toBe(0);
  await nested.close?.();
});

it('closes the bodies in a container if the rules for names cannot be read for the moment', async () => {
  const { provider, open } = counted('inner');
  let asked = 0;
  const outer: Outer = {
    provider: memoryProvider({ scheme: 'outer', resources: { 'a.pack': { text: 'pack' } } }),
    scheme: 'outer',
    place: async () => place,
    // Finding the container asks once, and the body once more.
    shows: () => (asked++ === 0 ? Promise.resolve(true) : Promise.reject(BUSY)),
  };
  const nested = nestedProvider({ outer, kinds: [kindOf(provider)], openings: createOpenings() });
  await expect(nested.read('outer:///a.pack/a.pack', WANT, createContext())).rejects.toMatchObject({
    code: 'unavailable',
  });
  expect(asked).toBe(2);
  expect(open.size).toBe(0);
  await nested.close?.();
});

it('does not wait for a container after its caller has left, and gives the container back', async () => {
  const inner = memoryProvider({ scheme: 'inner', resources: { 'a.txt': { text: 'a' } } });
  const closed: string[] = [];
  const gates: (() => void)[] = [];
  const kind: FileKind = {
    ...kindOf(inner),
    open: async () => {
      await new Promise<void>((resolve) => void gates.push(resolve));
      const provider: ResourceProvider = { ...inner, close: async () => void closed.push('inner') };
      // Too heavy to be kept, so it is closed when nobody uses it.
      return { provider, scheme: 'inner', weight: MAX_WEIGHT * 2 };
    },
  };
  const outer: Outer = {
    provider: memoryProvider({ scheme: 'outer', resources: { 'a.pack': { text: 'pack' } } }),
    scheme: 'outer',
    place: async () => place,
  };
  const nested = nestedProvider({ outer, kinds: [kind], openings: createOpenings() });
  const caller = new AbortController();
  const read = nested.read('outer:///a.pack/a.txt', WANT, createContext({ signal: caller.signal }));
  await until(() => gates.length === 1, 'the opening');
  caller.abort(new Error('the caller left'));
  await expect(read).rejects.toThrow('the caller left');
  expect(closed).toEqual([]);
  gates[0]?.();
  await until(() => closed.length === 1, 'the end of the container');
  await nested.close?.();
});
