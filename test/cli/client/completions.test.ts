/** Completions, as bash makes them, and scripts that name everything there is. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../../e2e/folders.ts';
import { PATIENCE_MS } from '../../e2e/waiting.ts';
import { run } from './run.ts';

const HAS_BASH = spawnSync('bash', ['--version']).status === 0;
if (!HAS_BASH && process.env.CI === 'true') throw new Error('There is no bash');
if (!HAS_BASH) console.warn('left out: there is no bash to complete in');

describe('completions', () => {
  it.each(['bash', 'zsh', 'fish'])('for %s name every command and option', async (shell) => {
    const { status, stdout, stderr } = await run(['completions', shell]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const word of ['serve', 'ls', 'tree', 'grep', 'watch', 'max-resources', 'fixed-strings', 'tls-cert', 'verify'])
      expect(stdout).toContain(word);
    expect(stdout).toContain('vitrine servers --names');
  });

  it('for other shells are refused', async () => {
    expect(await run(['completions', 'tcsh'])).toMatchObject({ status: 2, stdout: '' });
  });

  it.runIf(HAS_BASH)('complete commands, options, values, files and servers in bash', async () => {
    await using folder: Folder = await temporaryFolder({ 'docs/a.md': 'a', 'my file.md': 'b' });
    const { stdout: script } = await run(['completions', 'bash']);
    await folder.write('completions.bash', script);
    const cases: readonly (readonly string[])[] = [
      ['vitrine', 'tr'],
      ['vitrine', 'ls', '--max-r'],
      ['vitrine', 'ls', '--color', 'a'],
      ['vitrine', 'ls', 'o'],
      ['vitrine', 'ls', '--timeout', '5', 'with'],
      ['vitrine', 'cat', 'my'],
      ['vitrine', 'audit', ''],
      ['vitrine', 'audit', 'verify', 'comp'],
      ['vitrine', 'completions', ''],
    ];
    // The command itself is not on the path here; a function says what it would.
    const asked = cases.map(
      (words) => `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
        _vitrine 2>/dev/null; (IFS='|'; echo "\${COMPREPLY[*]}")`,
    );
    const program = `vitrine() { printf '%s\\n' odd 'with spaces'; }
      source ./completions.bash\n${asked.join('\n')}`;
    const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', program], {
      cwd: folder.path,
      encoding: 'utf8',
      timeout: PATIENCE_MS,
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.split('\n').slice(0, -1)).toEqual([
      'tree',
      '--max-resources',
      'auto|always',
      'odd',
      'with\\ spaces',
      'my file.md',
      expect.stringContaining('verify|'),
      'completions.bash',
      'bash|zsh|fish',
    ]);
  });
});
