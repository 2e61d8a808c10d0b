/** Text of others in the output of the command does not control the terminal. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { CLI } from '../e2e/harness.ts';
import { PATIENCE_MS } from '../e2e/waiting.ts';

const ESCAPE = '\u001b]0;owned\u0007\u001b[31mred';

/** Runs the command, and gives both of its outputs. */
function shown(...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8', timeout: PATIENCE_MS });
  return stdout + stderr;
}

describe('the output of the command contains no control characters of others', () => {
  it('in a path that was typed', () => {
    const text = shown('check', `./${ESCAPE}`);
    expect(text).toContain('red');
    expect(text).not.toMatch(/[\u0007\u001b]/);
  });

  it('in a name of a configuration', async () => {
    await using folder = await temporaryFolder();
    const config = await writeConfig(folder, { mounts: { docs: { path: `./${ESCAPE}` } } });
    const text = shown('check', '--config', config);
    expect(text).toContain('red');
    expect(text).not.toMatch(/[\u0007\u001b]/);
  });
});
