/**
 * MCP clients on the SDKs of other makers, each a program that follows a plan and prints a line of JSON for each step.
 * `node scripts/install-interop.mjs servers clients` installs what they need.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { within } from '../../e2e/waiting.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const SERVERS = join(HERE, '../servers');
const WINDOWS = process.platform === 'win32';

/** The tasks of a client, in the order of its members. */
export interface Plan {
  readonly text: string;
  readonly binary: string;
  /** A template with the variable `resourceId`. */
  readonly template: string;
  /** A resource that changes once the client has subscribed. */
  readonly watched: string;
  /** The arguments of the `search` tool. */
  readonly search: object;
  /** A resource that is read once the user agrees. */
  readonly guarded: string;
  /** A tool that asks the user, who declines. It may take a while to be there: the client looks `tries` times. */
  readonly asking: string;
  readonly tries: number;
  readonly prompt: { readonly name: string; readonly arguments: Readonly<Record<string, string>> };
  /** An argument of the prompt that is completed. */
  readonly argument: { readonly name: string; readonly value: string };
}

/** How the server is reached. */
export type Reached = { readonly url: string } | { readonly command: string; readonly args: readonly string[] };

export interface InteropClient {
  readonly name: string;
  readonly make: string;
  /** The protocol revisions that the client can be told to speak. */
  readonly revisions: readonly string[];
  readonly command: string;
  readonly args: readonly string[];
  /** The file that exists if the client is installed, and a command that fails if the client cannot be installed. */
  readonly needs: { readonly file: string; readonly tool: readonly string[] };
}

const OF_2025 = '2025-11-25';
const BOTH = [OF_2025, '2026-07-28'];

export const CLIENTS: readonly InteropClient[] = [
  {
    name: 'typescript-1',
    make: 'the TypeScript SDK, version 1',
    revisions: [OF_2025],
    command: process.execPath,
    args: [join(HERE, 'typescript.mjs')],
    needs: { file: join(HERE, 'typescript.mjs'), tool: [process.execPath, '--version'] },
  },
  python('python-1', 'the Python SDK, version 1', [OF_2025], '.venv-2025', 'sdk_1.py'),
  python('python-2', 'the Python SDK, version 2', BOTH, '.venv', 'sdk_2.py'),
  python('fastmcp', 'FastMCP', BOTH, '.venv', 'fast.py'),
  {
    ...built('go', 'the Go SDK', join(HERE, 'go/.built/client'), ['go', 'version']),
    revisions: ['2024-11-05', '2025-03-26', '2025-06-18', ...BOTH],
  },
  built('rust', 'the Rust SDK', join(SERVERS, `rust/.built/client${WINDOWS ? '.exe' : ''}`), ['cargo', '--version']),
];

function python(
  name: string,
  make: string,
  revisions: readonly string[],
  venv: string,
  program: string,
): InteropClient {
  const command = join(SERVERS, venv, WINDOWS ? 'Scripts/python.exe' : 'bin/python');
  const tool = [WINDOWS ? 'python' : 'python3', '-m', 'venv', '--help'];
  const file = join(HERE, 'python', program);
  return { name, make, revisions, command, args: ['-B', file], needs: { file: command, tool } };
}

function built(name: string, make: string, command: string, tool: readonly string[]): InteropClient {
  return { name, make, revisions: BOTH, command, args: [], needs: { file: command, tool } };
}

/** Why a client cannot run on this machine; undefined if it can. @throws in CI, if it is not installed but could be */
export function absence({ name, needs: { file, tool } }: InteropClient): string | undefined {
  if (existsSync(file)) return undefined;
  const [command = '', ...args] = tool;
  if (spawnSync(command, args).status !== 0) return `there is no ${command} that can build it`;
  const install = 'run node scripts/install-interop.mjs servers clients';
  if (process.env.CI === 'true') throw new Error(`The client ${name} is not installed: ${install}`);
  return `it is not installed: ${install}`;
}

/** One step, with the values that a client printed for it. */
export interface Step {
  readonly step: string;
  readonly [what: string]: unknown;
}

/** Everything that a client printed. */
export interface Run {
  readonly steps: ReadonlyMap<string, Step>;
  readonly stderr: string;
  readonly status: number | null;
}

/** Has a client follow a plan. @param onStep is called with the name of each step when it is done */
export async function follow(
  client: InteropClient,
  revision: string,
  reached: Reached,
  plan: Plan,
  onStep: (step: string) => void,
): Promise<Run> {
  const child = spawn(client.command, [...client.args, JSON.stringify({ revision, ...reached, ...plan })], {
    // FastMCP asks the package index for newer versions of itself unless it is told not to.
    env: { ...process.env, NO_COLOR: '1', FASTMCP_CHECK_FOR_UPDATES: 'off' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const steps = new Map<string, Step>();
  createInterface(child.stdout).on('line', (line) => {
    const said = JSON.parse(line) as Step;
    steps.set(said.step, said);
    onStep(said.step);
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  try {
    const status = await within(closed, `${client.name}, after ${[...steps.keys()].at(-1)}: ${stderr}`, RUN_MS);
    return { steps, stderr, status };
  } finally {
    child.kill('SIGKILL');
  }
}

/** How long a client may take for all its steps, on however busy a machine, in milliseconds. */
const RUN_MS = 150_000;
