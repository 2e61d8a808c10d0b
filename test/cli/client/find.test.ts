/** `vitrine find` asks an index. If it starts the server itself, it waits until the index is built. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../e2e/folders.ts';
import { MUSEUM } from '../../e2e/harness.ts';
import { run } from './run.ts';

describe('find', () => {
  it('prints the best places of a configuration that it serves itself', async () => {
    await using folder = await temporaryFolder({});
    const config = join(folder.path, 'vitrine.yaml');
    await writeFile(config, JSON.stringify({ index: { folder: './index' }, mounts: { museum: MUSEUM } }));
    const { status, stdout, stderr } = await run(['find', config, 'how', 'is', 'the', 'carriage', 'clock', 'wound']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^museum\+file:\/\/\/collection\/clocks\/winding\.toml#L\d+-L\d+\n/);
    const visitors = await run(['find', config, 'visitors', 'in', 'spring', '--max-matches', '1']);
    expect(visitors.stdout).toMatch(/^museum\+file:\/\/\/office\/visitors\.xlsx#L\d+-L\d+ +Visitors by season\n/);
    expect(visitors.stdout).toContain('| Spring 2025 |');
    const json = await run(['find', config, '"Winding schedule"', '--json', '--max-matches', '1']);
    expect(JSON.parse(json.stdout)).toMatchObject([
      { uri: expect.stringContaining('#L'), text: expect.stringMatching(/winding schedule/i) },
    ]);
    expect(await run(['find', config, 'zeppelin'])).toMatchObject({ status: 1, stdout: '' });
    const ranked = await run(['grep', config, 'visitors in spring', 'museum+file:///office', '--ranked']);
    expect(ranked.stdout.split('\n')[0]).toBe(visitors.stdout.split('\n')[0]);
    expect(ranked.stdout).not.toContain('museum+file:///visitors');
    expect(await run(['grep', config, 'spring', '--ranked', '-i'])).toMatchObject({ status: 2 });
  });

  it('says that there is no index', async () => {
    const { status, stderr } = await run(['find', MUSEUM, 'clock']);
    expect({ status, stderr }).toEqual({ status: 8, stderr: expect.stringContaining('index: on') });
  });
});
