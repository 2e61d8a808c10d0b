import { describe, expect, it } from 'vitest';
import type { Client } from './client.ts';
import { clusterPlace } from './cluster.ts';

const KEY = 'a key';

/** The answers of a node. A cluster cannot be cut in two at will, so this is no real one. */
interface Node {
  readonly info: string;
  readonly slots: readonly unknown[];
}

const locate = (nodes: Readonly<Record<string, Node>>): Promise<{ readonly host: string }> => {
  const open = ({ host }: { readonly host: string }): Client =>
    ({
      on() {},
      async connect() {},
      destroy() {},
      async sendCommand([, command = '']: readonly string[]) {
        const node = nodes[host];
        return command === 'KEYSLOT' ? 7 : command === 'SLOTS' ? node?.slots : node?.info;
      },
    }) as unknown as Client;
  const cluster = Object.keys(nodes).map((host) => `redis://${host}`);
  return clusterPlace({ cluster }, KEY, open).locate(new AbortController().signal);
};

const slots = [[0, 16_383, ['10.0.0.1', 6379]]];
const whole: Node = { info: 'cluster_state:ok\r\ncluster_current_epoch:3\r\n', slots };
const cutOff: Node = { info: 'cluster_state:fail\r\ncluster_slots_assigned:16384\r\n', slots };
const without: Node = { info: 'cluster_state:fail\r\ncluster_slots_assigned:0\r\n', slots: [] };

describe('a cluster whose nodes answer', () => {
  it('has the master that a node names which is not cut off', async () => {
    expect(await locate({ one: cutOff, two: whole })).toMatchObject({ host: '10.0.0.1' });
  });

  it.each([
    ['are cut off', { one: cutOff, two: cutOff }],
    ['have no slots', { one: without }],
    ['do not know who has the slot', { one: { ...whole, slots: [] } }],
  ])('is unavailable if they %s, and the error does not say more than is known', async (_why, nodes) => {
    await expect(locate(nodes)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/not all of its slots are served, or these nodes are cut off$/),
    });
  });
});
