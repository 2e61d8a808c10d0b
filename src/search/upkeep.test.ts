/** Which faults of questions make the index open its database again. */
import { afterEach, expect, it } from 'vitest';
import { createContext } from '../core/context.ts';
import { mountTree } from '../core/mounts.ts';
import type { IndexFigures } from '../core/ranked.ts';
import type { IndexStore } from './index-store.ts';
import { SqlFault } from './thread.ts';
import { createUpkeep, type Upkeep } from './upkeep.ts';

const FIGURES: IndexFigures = { resources: 0, passages: 0, bytes: 0, leftOut: {} };
const FAULT = new SqlFault('other', 'relation "kind" does not exist');

const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

/** Begins an index whose database other servers use, too. Another server has it until `lead` is called. */
async function shared() {
  const ending = new AbortController();
  let opened = 0;
  let lead = (): void => {};
  const leading = new Promise<boolean>((resolve) => {
    lead = () => resolve(true);
  });
  const store = {
    open: async () => void opened++,
    sharing: { lead: () => leading, whole: async () => true, setWhole: async () => {} },
    room: 1,
    known: async () => new Map(),
    childrenOf: async () => [],
    put: async () => {},
    remove: async () => {},
    keepMounts: async () => {},
    figures: async () => FIGURES,
    close: async () => {},
  } satisfies Partial<IndexStore> as Partial<IndexStore> as IndexStore;
  const upkeep: Upkeep = createUpkeep({
    context: { provider: mountTree([]), mounts: () => [], mountOf: () => undefined, settings: '', access: undefined },
    store,
    vectors: undefined,
    everything: true,
    rescanSeconds: 3_600,
    ctx: createContext({ signal: ending.signal }),
  });
  ended.push(async () => {
    ending.abort(new Error('The test is over'));
    lead();
    await upkeep.close();
  });
  await upkeep.opened;
  return { upkeep, lead, opened: () => opened };
}

it('a question that began before this server took the index over does not fail it, whenever its fault comes', async () => {
  const { upkeep, lead, opened } = await shared();
  const { tenure } = upkeep;
  upkeep.fail(FAULT, tenure);
  lead();
  await upkeep.settled;
  expect(upkeep.state).toBe('ready');
  upkeep.fail(FAULT, tenure);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([upkeep.state, opened()]).toEqual(['ready', 1]);
});

it('a question that began since fails it, and so does a lost connection: then the index is opened again', async () => {
  const { upkeep, lead, opened } = await shared();
  lead();
  await upkeep.settled;
  for (const [times, asked] of [upkeep.tenure, undefined].entries()) {
    upkeep.fail(FAULT, asked);
    await expect.poll(() => upkeep.state, { interval: 5 }).toBe('down');
    await expect.poll(() => [upkeep.state, opened()]).toEqual(['ready', times + 2]);
  }
});

it('a connection that is lost while this server takes the index over fails it', async () => {
  const { upkeep, lead, opened } = await shared();
  upkeep.fail(new SqlFault('gone', 'Connection terminated'));
  lead();
  await expect.poll(() => [upkeep.state, opened()]).toEqual(['ready', 2]);
});
