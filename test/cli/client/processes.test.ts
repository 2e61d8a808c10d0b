/** Tests that need a separate process: of bytes, pipes, signals, and programs that end with the command. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../../e2e/folders.ts';
import { CLI, MUSEUM, MUSEUM_CONFIG, ROOT } from '../../e2e/harness.ts';
import { isRunning } from '../../e2e/process-io.ts';
import { until, within } from '../../e2e/waiting.ts';
import { vitrine } from '../run.ts';
import { ODD } from './odd.ts';

let folder: Folder;
beforeAll(async () => {
  folder = await temporaryFolder({ 'notes.md': 'one\n' });
});
afterAll(() => folder[Symbol.asyncDispose]());

describe('a command', () => {
  it('serves a named folder, accepts names as people write them, and prints every byte [RES-5]', async () => {
    const child = spawn(process.execPath, [CLI, 'cat', 'museum', 'guide/icon.png', './collection/100% brass.md'], {
      cwd: `${MUSEUM}/..`,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const parts: Buffer[] = [];
    child.stdout.on('data', (part: Buffer) => parts.push(part));
    const [status] = (await within(once(child, 'close'), 'its end')) as [number];
    const files = [`${MUSEUM}/guide/icon.png`, `${MUSEUM}/collection/100% brass.md`];
    const expected = Buffer.concat(await Promise.all(files.map((file) => readFile(file))));
    expect(status).toBe(0);
    expect(Buffer.concat(parts).equals(expected)).toBe(true);
  });

  it('serves a named configuration, with its prompts', async () => {
    const { status, stdout, stderr } = await vitrine(['prompts', MUSEUM_CONFIG, '--json']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect((JSON.parse(stdout) as unknown[]).length).toBeGreaterThan(0);
  });

  it('ends quietly when its reader has closed the output, and reads its arguments from a pipe', async () => {
    const odd = `'${ODD}'`;
    const script = `set -o pipefail
      "${process.execPath}" "${CLI}" ls -R --jsonl "${MUSEUM}" | head -1 | wc -l
      echo '{"text": "piped"}' | "${process.execPath}" "${CLI}" call ${odd} echo --input - | head -1`;
    const child = spawn('bash', ['-c', script], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (part: Buffer) => {
      stdout += part.toString();
    });
    child.stderr.on('data', (part: Buffer) => {
      stderr += part.toString();
    });
    const [status] = (await within(once(child, 'close'), 'its end')) as [number];
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.replace(/^ +/, '')).toBe('1\n{"text":"piped"}\n');
  });

  it.each([
    ['a folder, which it serves itself', 0, () => folder.path],
    ['a program, which ends with it', 1, () => `'${process.execPath}' '${CLI}' serve '${folder.path}'`],
  ])('that watches prints changes, and ends on SIGINT with its status: %s [RES-4]', async (_, programs, serverOf) => {
    const child = spawn(process.execPath, [CLI, 'watch', serverOf(), 'notes.md', '--jsonl'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'close');
    await within(once(createInterface({ input: child.stderr }), 'line'), 'the watch');
    const servers = await childrenOf(child.pid ?? 0);
    const change = once(createInterface({ input: child.stdout }), 'line');
    await folder.write('notes.md', 'one\ntwo\n');
    const [line] = (await within(change, 'the change')) as [string];
    expect(JSON.parse(line)).toMatchObject({ kind: 'updated', uri: 'file:///notes.md' });
    child.kill('SIGINT');
    expect((await within(ended, 'its end'))[0]).toBe(130);
    expect(servers).toHaveLength(programs);
    for (const server of servers) await until(() => !isRunning(server), 'the end of the program');
  });
});

async function childrenOf(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text
    .split(' ')
    .filter((each) => each.trim() !== '')
    .map(Number);
}
