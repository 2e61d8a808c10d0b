import { filesFixture } from '../../testing/files-fixture.ts';
import { providerContract } from '../../testing/provider-contract.ts';
import { createOpenings, nestedProvider } from './index.ts';

/** A folder without containers is served as without nesting. */
providerContract('nested, around files', (seed) =>
  filesFixture(seed, (provider) =>
    nestedProvider({
      outer: { provider, scheme: 'file', place: async () => undefined },
      kinds: [
        { key: 'text', endings: ['.txt'], magic: Buffer.from('no'), open: () => Promise.reject(new Error('no')) },
      ],
      openings: createOpenings(),
    }),
  ),
);
