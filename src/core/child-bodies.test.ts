import { describe, expect, it } from 'vitest';
import { bytesOf, type ResourceBody } from './body.ts';
import { childBodies } from './child-bodies.ts';
import { createContext } from './context.ts';
import { ResourceError, type ResourceErrorCode } from './errors.ts';
import { createNotes } from './notes.ts';

const CHILDREN = ['a', 'b', 'c'].map((name) => ({ uri: `notes:///${name}`, name }));

/** Reads three children, of which the named ones fail. */
async function read(
  failing: string,
  error: () => unknown,
  { children = CHILDREN, signal = new AbortController().signal } = {},
) {
  const notes = createNotes();
  const closed: string[] = [];
  const bodyOf = async (resource: ResourceBody['resource']): Promise<ResourceBody> => {
    if (failing.includes(resource.name)) throw error();
    return { resource, content: bytesOf(new Uint8Array(3)), close: async () => void closed.push(resource.name) };
  };
  const bodies = await childBodies('notes:///', children, 100, bodyOf, createContext({ notes, signal })).catch(
    (thrown: unknown) => ({ thrown }),
  );
  const outcome = 'thrown' in bodies ? bodies : { names: bodies.map(({ resource }) => resource.name) };
  const { _meta: meta } = notes.finish<{ _meta?: object }>({}, { ttlMs: 1, cacheScope: 'private' });
  return { ...outcome, closed, meta };
}

const failing = (code: ResourceErrorCode) => () => new ResourceError(code, 'No', { uri: 'notes:///secret' });

describe('a read of children', () => {
  it.each(['not-found', 'denied', 'too-large', 'invalid', 'not-listable'] as const)(
    'leaves out a child that is not for reading, and says nothing of it: %s',
    async (code) => {
      expect(await read('b', failing(code))).toEqual({ names: ['a', 'c'], closed: [], meta: undefined });
      expect(await read('abc', failing(code))).toEqual({ names: [], closed: [], meta: undefined });
    },
  );

  it.each(['unavailable', 'timeout', 'limited', 'internal'] as const)(
    'leaves out children that fail, and says once that it is not complete: %s',
    async (code) => {
      const meta = { 'vitrine/missing': [{ reason: 'Some children cannot be read now' }] };
      expect(await read('b', failing(code))).toEqual({ names: ['a', 'c'], closed: [], meta });
      expect(await read('bc', failing(code))).toEqual({ names: ['a'], closed: [], meta });
    },
  );

  it('fails if all of them fail, with the URI of the container', async () => {
    const failed = await read('abc', failing('unavailable'));
    expect(failed).toMatchObject({ thrown: { code: 'unavailable', uri: 'notes:///' }, closed: [] });
    const folder = { uri: 'notes:///f', name: 'f', capabilities: { list: true, subscribe: false } };
    const beside = await read('abc', failing('unavailable'), { children: [...CHILDREN, folder] });
    expect(beside).toMatchObject({ names: ['f'] });
  });

  it.each([
    ['a fault of the program', () => new TypeError('away'), 'away'],
    ['an error of the system that nobody has read', () => Object.assign(new Error('EIO'), { code: 'EIO' }), 'EIO'],
  ])('fails at %s, and closes the bodies that it has opened', async (_, error, message) => {
    expect(await read('c', error)).toMatchObject({ thrown: { message }, closed: ['a', 'b'] });
  });

  it('ends with the reason of the signal if that is aborted while a child is read, the last one too', async () => {
    const leaving = new AbortController();
    const leave = () => {
      leaving.abort(new Error('gone'));
      return new ResourceError('unavailable', 'broken off');
    };
    expect(await read('c', leave, { signal: leaving.signal })).toMatchObject({
      thrown: { message: 'gone' },
      closed: ['a', 'b'],
    });
  });
});
