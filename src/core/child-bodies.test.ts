import { expect, it } from 'vitest';
import { bytesOf } from './body.ts';
import { childBodies } from './child-bodies.ts';
import { createContext } from './context.ts';

it('a read of children that fails closes the bodies that it has opened', async () => {
  const closed: string[] = [];
  const children = ['a', 'b', 'c'].map((name) => ({ uri: `notes:///${name}`, name }));
  const read = childBodies(
    children,
    100,
    async (resource) => {
      if (resource.name === 'c') throw new Error('away');
      return { resource, content: bytesOf(new Uint8Array(3)), close: async () => void closed.push(resource.name) };
    },
    createContext(),
  );
  await expect(read).rejects.toThrow('away');
  expect(closed).toEqual(['a', 'b']);
});
