/** The state of an index is in `vitrine check`, in the metrics, and in a resource. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startTelemetry } from '../../src/layers/telemetry/index.ts';
import type { ResourceContents } from '../../src/protocol/resources.ts';
import { filesProvider } from '../../src/providers/files/index.ts';
import { createIndex } from '../../src/search/index.ts';
import { createVitrine } from '../../src/vitrine.ts';
import { vitrine as run } from '../cli/run.ts';
import { temporaryFolder } from './folders.ts';

const textIn = ([contents]: readonly ResourceContents[]): string =>
  contents !== undefined && 'text' in contents ? contents.text : '';

const STATE = 'vitrine+state:///index';

it('shows in check, in metrics and in a resource, with the number of entries that are left out', async () => {
  await using folder = await temporaryFolder({ 'docs/a.md': 'The brass clock', 'docs/b.md': 'An iron clock' });
  const config = join(folder.path, 'vitrine.yaml');
  await writeFile(config, JSON.stringify({ index: { folder: './index' }, mounts: { m: './docs' } }));
  const before = await run(['check', '--config', config]);
  expect(before.stdout).toContain('ok  index  no index is stored yet; vitrine serve makes it while it runs\n');

  const telemetry = await startTelemetry({ prometheus: true });
  const provider = await filesProvider({ path: join(folder.path, 'docs') });
  const vitrine = createVitrine({
    mounts: [{ name: 'm', provider }],
    index: createIndex({ folder: join(folder.path, 'index'), maxBytes: 1 }),
    telemetry: telemetry.telemetry,
    access: {
      rules: [
        { effect: 'allow', who: { subjects: ['ann'] } },
        { effect: 'allow', uris: [STATE] },
      ],
    },
  });
  await vitrine.ranked?.settled();
  const state = { state: 'ready', resources: 2, passages: 1, bytes: expect.any(Number), leftOut: { maxBytes: 2 } };
  const stateFor = async (subject: string): Promise<unknown> =>
    JSON.parse(textIn(await vitrine.read(STATE, { principal: { id: subject, subject } })));
  expect(await stateFor('ann')).toEqual(state);
  // The number of entries would tell other clients of resources that they may not read.
  expect(await stateFor('bob')).toEqual({ state: 'ready' });

  const metrics = await telemetry.prometheus?.();
  expect(metrics).toContain('vitrine_index_state{vitrine_index_state="ready"} 1');
  expect(metrics).toContain('vitrine_index_resources 2');
  expect(metrics).toContain('vitrine_index_left_out{vitrine_index_reason="maxBytes"} 2');

  const during = await run(['check', '--config', config]);
  expect(during.stdout).toMatch(
    /ok {2}index {2}2 resources, 1 passages, \d+ MiB\n-- {2}index {2}2 left out, or in part: maxBytes/,
  );
  await vitrine.close();
  await telemetry.close();
  expect(await readdir(join(folder.path, 'index'))).not.toContain('index.sqlite-wal');
  await writeFile(join(folder.path, 'index', 'index.sqlite'), 'Dear grandmother,');
  const after = await run(['check', '--config', config]);
  expect(after).toMatchObject({ status: 1, stdout: expect.stringContaining('its file is damaged') });
});
