/** Lists with invalid entries: these are left out and counted, and the others are given. */
import { describe, expect, it } from 'vitest';
import { createResourceClient } from '../../src/client/index.ts';
import { run } from '../cli/client/run.ts';
import { ERAS } from '../e2e/harness.ts';
import { all, eraOf, scripted } from './scripted.ts';

const JUNK: readonly unknown[] = [null, 7, 'text', [], [{ uri: 'x:///in', name: 'in' }], {}, { uri: 5, name: 'no' }];

describe.each(ERAS)('in the %s era', (era) => {
  it('the valid entries of a list of resources are given', async () => {
    await using server = await scripted({
      'resources/list': () => ({
        resources: [{ uri: 'x:///a', name: 'a' }, ...JUNK, { uri: 'x:///b', name: 'b', size: 'big', annotations: 5 }],
      }),
      'resources/templates/list': () => ({
        resourceTemplates: [{ uriTemplate: 'x:///{a}', name: 'a' }, ...JUNK, { uriTemplate: 'x:///{b}' }],
      }),
    });
    await using resources = createResourceClient({ url: server.url, ...eraOf[era] });
    const list = resources.list();
    expect((await all(list)).map(({ uri }) => uri)).toEqual(['x:///a', 'x:///b']);
    expect(list.report).toMatchObject({ stopped: 'end', dropped: JUNK.length });
    const templates = resources.templates();
    expect((await all(templates)).map(({ uriTemplate }) => uriTemplate)).toEqual(['x:///{a}', 'x:///{b}']);
    expect(templates.report).toMatchObject({ stopped: 'end', dropped: JUNK.length });
  });
});

it.each(['tools', 'prompts'])('a list of %s on the command line has the valid entries', async (kind) => {
  const good = { name: 'good', inputSchema: { type: 'object' } };
  await using server = await scripted(
    { [`${kind}/list`]: () => ({ [kind]: [...JUNK, good, { name: 7 }] }) },
    { [kind]: {} },
  );
  const { status, stdout } = await run([kind, server.url, '--json']);
  expect(status).toBe(0);
  expect(stdout).toContain('"good"');
});
