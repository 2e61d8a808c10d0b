/** The unit for systemd, verified by systemd itself. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../e2e/folders.ts';
import { findProgram } from '../services/programs.ts';
import { describeWith } from '../services/service.ts';
import { DEPLOY } from './tools.ts';

const systemd = {
  name: 'systemd',
  missing: () => (findProgram('systemd-analyze') === undefined ? 'there is no systemd-analyze' : undefined),
};

/** Lets systemd verify the text of a unit. @returns its complaints; empty for a valid unit */
async function verified(text: string): Promise<string> {
  await using folder = await temporaryFolder({});
  const file = join(folder.path, 'vitrine.service');
  await writeFile(file, text);
  const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', file]);
  return `${stdout}${stderr}`;
}

describeWith([systemd])('the unit', () => {
  // Vitrine is not installed where tests run.
  const unit = async (): Promise<string> =>
    (await readFile(join(DEPLOY, 'vitrine.service'), 'utf8')).replace('/usr/local/bin/vitrine', process.execPath);

  it('is valid without a warning', async () => {
    expect(await verified(await unit())).toBe('');
  });

  it('would be invalid with an unknown setting', async () => {
    expect(await verified((await unit()).replace('ProtectHome', 'ProtectHomes'))).toContain('ProtectHomes');
  });
});
