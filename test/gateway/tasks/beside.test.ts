/**
 * Servers with tasks in one era each, beside each other and beside Vitrine's own tools. A call can become a task only if its
 * server has tasks in the client's era.
 */
import { describe, expect, it } from 'vitest';
import { temporaryFolder, writeConfig } from '../../e2e/folders.ts';
import { connect, ERAS } from '../../e2e/harness.ts';
import { connectToStranger, startStranger } from '../strangers/link.ts';
import { begin, errorOf, outcomeOf, resultOf } from './asking.ts';

const NO_METHOD = -32_601;

it.each(ERAS)('a client of the %s era has tasks of a server of both eras whose mount names that era', async (era) => {
  const said = { legacy: '2025', modern: '2026' }[era];
  const way = { transport: 'http', era: 'both' } as const;
  await using on = await connectToStranger({ transport: 'http', era }, 'tasks', way, { era: said });
  const taskId = await begin(on, 'slow_compute', { label: 'both' });
  expect(await outcomeOf(on, taskId)).toMatchObject({ content: [{ text: 'computed both' }] });
});

describe.concurrent.each(ERAS)('a client of the %s era with two servers, one of each era,', (era) => {
  it('has tasks only of the server of its own era', async () => {
    await using folder = await temporaryFolder({ 'docs/a.txt': 'a' });
    await using old = await startStranger('tasks', { transport: 'http', era: 'legacy' });
    await using fresh = await startStranger('tasks', { transport: 'http', era: 'modern' });
    const mounts = { docs: folder.at('docs'), old: old.mount, new: fresh.mount };
    const config = await writeConfig(folder, { icons: 'off', mounts });
    await using on = await connect('http', era, ['--config', config]);
    const call = (name: string): Record<string, unknown> => ({
      name,
      arguments: { seconds: 0 },
      task: { ttl: 60_000 },
    });
    const [own, other] = era === 'legacy' ? ['old', 'new'] : ['new', 'old'];
    const begun = await resultOf(on, 'tools/call', call(`${own}_slow_compute`));
    const { taskId } = (era === 'legacy' ? begun.task : begun) as { readonly taskId: string };
    expect(taskId).toMatch(new RegExp(`^${own}_`));
    expect(await resultOf(on, 'tasks/get', { taskId })).toMatchObject({ taskId });
    if (era === 'modern') {
      for (const name of [`${other}_slow_compute`, 'list']) {
        expect(await resultOf(on, 'tools/call', call(name))).toMatchObject({ resultType: 'complete' });
      }
      return;
    }
    expect(await errorOf(on, 'tools/call', call(`${other}_slow_compute`))).toMatchObject({
      code: NO_METHOD,
      message: 'The server behind "new" has no tasks',
    });
    expect(await errorOf(on, 'tools/call', call('list'))).toMatchObject({
      code: NO_METHOD,
      message: 'The tool "list" is not called as a task',
    });
  });
});
