/** Runs the built command to its end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { CLI, ROOT } from '../e2e/harness.ts';
import { within } from '../e2e/waiting.ts';

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `vitrine <args>` with nothing on standard input. @param env is added to the environment of this process */
export async function vitrine(
  args: readonly string[],
  cwd = ROOT,
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  try {
    const [status] = (await within(once(child, 'close'), `the end of vitrine ${args.join(' ')}`)) as [number | null];
    return { status, stdout, stderr };
  } finally {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  }
}
