import { expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import { createKnownResources } from './known.ts';
import { createMetadata, type EntryPage, type MetadataSetup } from './metadata.ts';

/** Looks for a resource in a server's list. */
function isListed(uri: string, list: () => EntryPage): Promise<boolean> {
  const view = { known: createKnownResources(), supervisor: {} };
  const setup = {
    name: 'up',
    facts: () => ({ tellsResources: false }),
    connections: { of: async () => view },
    list: async () => list(),
  } as unknown as MetadataSetup;
  return createMetadata(setup).isListed(uri, createContext());
}

it('the search in the list of a server ends if its pages are empty and endless', async () => {
  let asked = 0;
  const endless = (): EntryPage => {
    if (++asked > 30_000) throw new Error('the search does not end');
    return { entries: [], nextCursor: String(asked) };
  };
  expect(await isListed('x:a', endless)).toBe(false);
  expect(asked).toBeLessThan(21_000);
});

it('and continues after some empty pages', async () => {
  let asked = 0;
  const late = (): EntryPage =>
    ++asked < 100
      ? { entries: [], nextCursor: String(asked) }
      : { entries: [{ uri: 'x:a', name: 'a' }], nextCursor: undefined };
  expect(await isListed('x:a', late)).toBe(true);
});
