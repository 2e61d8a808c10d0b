import { expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import { searchProvider } from '../../core/search.ts';
import { memoryProvider } from '../memory/index.ts';
import { createOpenings, nestedProvider } from './index.ts';

const NAMES = ['a.zip', 'B.Zip', 'C.ZIP', 'd.zIp', 'e.tar.gz', 'F.Tar.gz', 'g.tar.GZ', 'plain.txt', 'Zip', 'x.zipped'];

it.each([[['.zip', '.tar.gz']], [['.zip']]])(
  'searches the containers whose names end in %j, in any case of letters',
  async (endings) => {
    const place = { size: 1, file: '1', state: '1', open: () => Promise.reject(new Error('not opened')) };
    const nested = nestedProvider({
      outer: {
        provider: memoryProvider({ resources: Object.fromEntries(NAMES.map((name) => [name, { text: 'packed' }])) }),
        scheme: 'memory',
        place: async () => place,
      },
      kinds: endings.map((ending) => ({
        key: ending,
        endings: [ending],
        open: async () => ({
          provider: memoryProvider({ scheme: 'inner', resources: { 'clock.txt': { text: 'a clock' } } }),
          scheme: 'inner',
          weight: 1,
        }),
      })),
      openings: createOpenings(),
    });
    const found: string[] = [];
    for await (const { uri } of searchProvider(nested, { pattern: 'clock', literal: true }, createContext()))
      found.push(uri);
    const containers = NAMES.slice(0, NAMES.indexOf(endings.length === 1 ? 'e.tar.gz' : 'plain.txt'));
    expect(found.sort()).toEqual(containers.map((name) => `memory:///${name}/clock.txt`).sort());
    await nested.close?.();
  },
);
