/** Completion in real shells, and the values that it offers. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../../e2e/folders.ts';
import { CLI, MUSEUM } from '../../e2e/harness.ts';
import { PATIENCE_MS } from '../../e2e/waiting.ts';
import { type Outcome, vitrine } from '../run.ts';
import { run } from './run.ts';

const has = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;
const SHELLS = ['bash', 'zsh', 'fish'].filter(has);
if (!SHELLS.includes('bash') && process.env.CI === 'true') throw new Error('There is no bash');
for (const shell of ['bash', 'zsh', 'fish'].filter((each) => !SHELLS.includes(each)))
  console.warn(`left out: there is no ${shell} to complete in`);

/** Lets completion wait as long as a busy machine takes. */
const PATIENT = { VITRINE_COMPLETION_SECONDS: String(PATIENCE_MS / 1_000) };

/** Returns the offers for the last word, and after them the flags for the shell. */
const offered = async (words: readonly string[], cwd?: string, env?: Record<string, string>) =>
  offersIn(await run(['complete', '--', ...words], { ...PATIENT, ...env }, cwd));

/** Does the same in the working directory of the tests. */
const offeredHere = async (...words: readonly string[]) => offersIn(await run(['complete', '--', ...words], PATIENT));

function offersIn({ status, stdout, stderr }: Outcome): readonly string[] {
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t', 1)[0] ?? '');
}

const FILES = ':0';
const NO_FILES = ':4';
const MORE = ':6';

// To serve a folder, a command starts the program that `process.argv` names.
const [, script] = process.argv;
beforeAll(() => {
  process.argv[1] = CLI;
});
afterAll(() => {
  process.argv[1] = script ?? '';
});

describe('offers', () => {
  it('commands, options and their values', async () => {
    expect(await offeredHere('tr')).toEqual(['tree', FILES]);
    expect(await offeredHere('audit', '')).toEqual(['verify', 'merge', NO_FILES]);
    expect(await offeredHere('ls', '--max-r')).toEqual(['--max-resources', NO_FILES]);
    expect(await offeredHere('ls', '--color', 'a')).toEqual(['auto', 'always', NO_FILES]);
    expect(await offeredHere('ls', '--color=al')).toEqual(['always', NO_FILES]);
    expect(await offeredHere('completions', '')).toEqual(['bash', 'zsh', 'fish', 'pwsh', NO_FILES]);
    expect(await offeredHere('add', 'cl')).toEqual(['claude-code', 'claude-desktop', 'cline', NO_FILES]);
    expect(await offeredHere('serve', '--config', '')).toEqual([FILES]);
    expect(await offeredHere('./docs', '--ht')).toEqual(['--http', NO_FILES]);
    expect(await offeredHere('ls', '--timeout', '')).toEqual([NO_FILES]);
  });

  it('resources, a folder at a time, by path or by URI', async () => {
    expect(await offeredHere('cat', MUSEUM, 'gu')).toEqual(['guide/', MORE]);
    expect(await offeredHere('ls', '-l', MUSEUM, 'guide/we')).toEqual(['guide/welcome.md', NO_FILES]);
    expect(await offeredHere('stat', MUSEUM, 'README.md', 'file:///guide/we')).toEqual([
      'file:///guide/welcome.md',
      NO_FILES,
    ]);
    expect(await offeredHere('stat', MUSEUM, 'file:///gu')).toEqual(['file:///guide/', MORE]);
    expect(await offeredHere('tree', MUSEUM, 'nothing/')).toEqual([NO_FILES]);
    expect(await offeredHere('tree', MUSEUM, 'guide', '')).toEqual([NO_FILES]);
  });

  it('tools, prompts, their arguments, and the values of arguments', async () => {
    await using folder = await temporaryFolder();
    const config = { mounts: { museum: { path: MUSEUM, prompts: 'prompts' }, other: folder.path } };
    await folder.write('vitrine.yaml', JSON.stringify(config));
    const server = folder.at('vitrine.yaml');
    expect(await offeredHere('call', server, 'read')).toEqual(['read', 'read_embedded', NO_FILES]);
    expect(await offeredHere('call', server, 'describe', '--arg', 'u')).toEqual(['uri=', MORE]);
    expect(await offeredHere('call', server, 'list', '--arg', 'uri=x', '--arg', 'u')).toEqual([MORE]);
    expect(await offeredHere('prompts', server, 'compare')).toEqual([
      expect.stringContaining('compare-rooms'),
      NO_FILES,
    ]);
    const [prompt = ''] = await offeredHere('prompts', server, 'compare');
    const [name = ''] = await offeredHere('prompts', server, prompt, '--arg', '');
    expect(name).toMatch(/^\w+=$/);
    expect(
      (await offeredHere('prompts', server, prompt, '--arg', name)).every(
        (each) => each.startsWith(name) || each === NO_FILES,
      ),
    ).toBe(true);
    expect(await offeredHere('ls', server, 'mus')).toEqual(['museum+file:///', MORE]);
    expect(await offeredHere('ls', server, 'museum+file:///gu')).toEqual(['museum+file:///guide/', MORE]);
  });

  it('no name that a shell would run or expand', async () => {
    await using folder = await temporaryFolder({
      'docs/$(touch pwned)': '',
      'docs/`touch pwned`': '',
      'docs/a;b': '',
      "docs/it's": '',
      'docs/plain name.md': '',
      '.cursor/mcp.json': JSON.stringify({ mcpServers: { '$(touch pwned)': { command: 'x' }, odd: { command: 'x' } } }),
    });
    expect(await offered(['cat', './docs', ''], folder.path)).toEqual([
      '%60touch%20pwned%60',
      'plain%20name.md',
      NO_FILES,
    ]);
    expect((await offered(['cat', 'od'], folder.path)).filter((each) => each !== 'odd')).toEqual([FILES]);
    expect(existsSync(folder.at('pwned'))).toBe(false);
  });

  it('nothing of a server that a file in the folder or a typed command names, without starting it', async () => {
    const touch = (file: string) => ({
      command: process.execPath,
      args: ['-e', `fs.writeFileSync(${JSON.stringify(file)}, '')`],
    });
    await using folder = await temporaryFolder();
    const started = folder.at('started');
    const entry = touch(started);
    const file = JSON.stringify({ mcpServers: { came: entry } });
    await folder.write('.mcp.json', file);
    await folder.write('mcp.json', file);
    await folder.write('vitrine.yaml', JSON.stringify({ mounts: { came: entry } }));
    await folder.write(
      'run.yaml',
      JSON.stringify({ mounts: { came: { run: { x: [entry.command, ...entry.args] } } } }),
    );
    await folder.write('kind.mjs', `import fs from 'node:fs'; ${entry.args[1]}`);
    await folder.write('kind.yaml', JSON.stringify({ kinds: ['./kind.mjs'], mounts: { came: { kind: 'came' } } }));
    await folder.write('servers.yaml', JSON.stringify({ mounts: { here: '.' }, mcpServers: { came: entry } }));
    const line = `${process.execPath} -e "fs.writeFileSync('${started}', '')"`;
    const env = { HOME: folder.at('home') };
    for (const server of ['came', 'mcp.json', './vitrine.yaml', 'run.yaml', 'kind.yaml', 'servers.yaml', line])
      expect(await offered(['cat', server, ''], folder.path, env)).toEqual([NO_FILES]);
    expect(await offered(['cat', '--mcp-config', 'mcp.json', 'came', ''], folder.path, env)).toEqual([NO_FILES]);
    expect(existsSync(started)).toBe(false);
    // Completion asks servers that the user has configured.
    await folder.write(
      'home/.cursor/mcp.json',
      JSON.stringify({ mcpServers: { mine: { command: process.execPath, args: [CLI, 'serve', MUSEUM] } } }),
    );
    expect(await offered(['cat', 'mine', 'gu'], folder.path, env)).toEqual(['guide/', MORE]);
    // Completion does not wait for a server without answers.
    const mute = { command: process.execPath, args: ['-e', 'process.stdin.resume()'] };
    await folder.write('home/.cursor/mcp.json', JSON.stringify({ mcpServers: { mute } }));
    const impatient = { ...env, VITRINE_COMPLETION_SECONDS: '0.2' };
    expect(await offered(['cat', 'mute', ''], folder.path, impatient)).toEqual([NO_FILES]);
  });
});

/** Lets a shell complete lines in a folder. In the shell, `vitrine` is a function. */
function completedBy(
  shell: string,
  script: string,
  cases: readonly (readonly string[])[],
  folder: Folder,
): readonly string[] {
  const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ');
  const run = `"${process.execPath}" "${CLI}"`;
  const programs: Record<string, string> = {
    bash: `vitrine() { ${run} "$@"; }
      source ./script\n${cases
        .map(
          (words) => `COMP_WORDS=(${words
            .flatMap((word) => word.split(/([:=]+)/).filter((part, at) => part !== '' || at === 0))
            .map((word) => `'${word}'`)
            .join(' ')}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
        _vitrine 2>/dev/null; (IFS='|'; echo "\${COMPREPLY[*]}")`,
        )
        .join('\n')}`,
    zsh: `vitrine() { ${run} "$@"; }
      compdef() { :; }
      _describe() { local -a found; found=(\${(P)2}); local -a matched; matched=(\${(M)found:#\${words[-1]}*}); print -r -- "\${(j:|:)\${(@)matched%%:*}}"; }
      _arguments() { print files; }
      source ./script\n${cases.map((words) => `words=(${quoted(words)}); CURRENT=\${#words}; _vitrine`).join('\n')}`,
    fish: `function vitrine; ${run} $argv; end
      source ./script\n${cases.map((words) => `echo (complete -C '${words.join(' ')}' | string split -f1 \\t | string join '|')`).join('\n')}`,
  };
  const flags = shell === 'bash' ? ['--norc'] : shell === 'zsh' ? ['-f'] : ['--no-config'];
  const { status, stdout, stderr } = spawnSync(shell, [...flags, '-c', programs[shell] ?? ''], {
    cwd: folder.path,
    encoding: 'utf8',
    timeout: PATIENCE_MS,
    env: { ...process.env, ...PATIENT, HOME: folder.path },
  });
  expect({ script: script.length > 0, status, stderr }).toEqual({ script: true, status: 0, stderr: '' });
  return stdout.split('\n').slice(0, -1);
}

describe('scripts', () => {
  it.each(SHELLS)('complete commands, options, servers and resources in %s', async (shell) => {
    await using folder = await temporaryFolder({
      'docs/guide/a.md': 'a',
      '.cursor/mcp.json': JSON.stringify({ mcpServers: { odd: { command: 'x' } } }),
    });
    const { status, stdout: script, stderr } = await vitrine(['completions', shell]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    await folder.write('script', script);
    const cases = [
      ['vitrine', 'tr'],
      ['vitrine', 'ls', '--max-r'],
      ['vitrine', 'ls', '--color', 'a'],
      ['vitrine', 'ls', 'od'],
      ['vitrine', 'cat', './docs', 'gui'],
      ['vitrine', 'cat', './docs', 'guide/'],
    ];
    expect(completedBy(shell, script, cases, folder)).toEqual([
      'tree',
      '--max-resources',
      shell === 'fish' ? 'always|auto' : 'auto|always',
      'odd',
      'guide/',
      'guide/a.md',
    ]);
  });

  it('complete files, and words with colons and equals signs, in bash', async () => {
    await using folder = await temporaryFolder({ 'my file.md': 'b', 'docs/guide/a.md': 'a' });
    const { stdout: script } = await vitrine(['completions', 'bash']);
    await folder.write('script', script);
    const cases = [
      ['vitrine', 'cat', 'my'],
      ['vitrine', 'audit', 'verify', 'scr'],
      ['vitrine', 'ls', '--color=al'],
      ['vitrine', 'cat', './docs', 'file:///guide/'],
      ['vitrine', 'stat', './docs', 'file:///gu'],
      ['vitrine', 'call', './docs', 'describe', '--arg', 'ur'],
    ];
    // In bash, the part in front of a colon or an equals sign is a word of its own.
    expect(completedBy('bash', script, cases, folder)).toEqual([
      'my file.md',
      'script',
      'always',
      '///guide/a.md',
      '///guide/',
      'uri=',
    ]);
  });

  it('are there for PowerShell too, and other shells are refused', async () => {
    expect((await vitrine(['completions', 'pwsh'])).stdout).toContain(
      "Register-ArgumentCompleter -CommandName 'vitrine'",
    );
    expect(await vitrine(['completions', 'tcsh'])).toMatchObject({ status: 2, stdout: '' });
  });
});
