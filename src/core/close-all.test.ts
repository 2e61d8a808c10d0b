/** Closing goes on after a part that fails: a server that ends leaves nothing open. */
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/e2e/folders.ts';
import { memoryProvider } from '../providers/memory/index.ts';
import { createVitrine } from '../vitrine.ts';
import { closeAll } from './close-all.ts';
import { type Layer, wrapProvider } from './layer.ts';
import type { ResourceProvider } from './provider.ts';

const failing = (message: string) => () => {
  throw new Error(message);
};

describe('closing several parts', () => {
  it('goes in order, and one after the other', async () => {
    const closed: string[] = [];
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      closed.push('slow');
    };
    await closeAll(slow, () => closed.push('quick'), slow);
    expect(closed).toEqual(['slow', 'quick', 'slow']);
  });

  it('goes on after one that throws, at once or later, and throws its error at the end', async () => {
    const closed: string[] = [];
    const error = await closeAll(failing('first'), () => closed.push('second')).catch((error: unknown) => error);
    expect(error).toMatchObject({ message: 'first' });
    await expect(
      closeAll(
        async () => failing('later')(),
        () => closed.push('third'),
      ),
    ).rejects.toThrow('later');
    await expect(closeAll(() => Promise.reject())).rejects.toBeUndefined();
    expect(closed).toEqual(['second', 'third']);
  });

  it('throws all errors if there are several', async () => {
    const error = await closeAll(failing('a'), () => {}, failing('b')).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(AggregateError);
    expect((error as AggregateError).errors).toMatchObject([{ message: 'a' }, { message: 'b' }]);
  });
});

describe('a server that ends', () => {
  const memory = () => memoryProvider({ resources: { 'a.txt': { text: 'a' } } });
  const closing = (close: () => Promise<void>): ResourceProvider => wrapProvider(memory(), { close });

  it('gives its audit file free, although a layer cannot be closed', async () => {
    await using folder = await temporaryFolder({});
    const audit = { file: folder.at('audit.jsonl') };
    const sticky: Layer = (inner) => wrapProvider(inner, { close: failing('sticky') });
    const first = createVitrine({ mounts: { memory: memory() }, audit, layers: [sticky] });
    await expect(first.close()).rejects.toThrow('sticky');
    await createVitrine({ mounts: { memory: memory() }, audit }).close();
  });

  it('closes every provider, although the first one throws at once', async () => {
    await using folder = await temporaryFolder({});
    const audit = { file: folder.at('audit.jsonl') };
    let closed = 0;
    const mounts = { a: closing(failing('a')), b: closing(async () => void closed++) };
    await createVitrine({ mounts, audit }).close();
    expect(closed).toBe(1);
    await createVitrine({ mounts: { memory: memory() }, audit }).close();
  });

  it('closes its sources of prompts, although the first one throws at once', async () => {
    let closed = 0;
    const source = { list: async () => [] };
    const prompts = [
      { ...source, close: failing('a') },
      { ...source, close: async () => void closed++ },
    ];
    await createVitrine({ mounts: { memory: memory() }, prompts }).close();
    expect(closed).toBe(1);
  });
});
