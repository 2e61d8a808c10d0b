/** Servers that misbehave, all at once, mounted beside the museum. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { UpstreamTarget } from '../../../src/providers/upstream/index.ts';
import { type Folder, temporaryFolder } from '../../e2e/folders.ts';
import { MUSEUM } from '../../e2e/harness.ts';
import { within } from '../../e2e/waiting.ts';
import { running } from '../../processes.ts';

const SERVER = fileURLToPath(new URL('./server.mjs', import.meta.url));

/** Short timeouts for servers that hang. */
const HURRIED = { connectTimeoutSeconds: 5, timeoutSeconds: 2, callTimeoutSeconds: 3 } as const;

/** One server that misbehaves: the fault, the era, and the transport. */
export interface Bad {
  readonly kind: string;
  readonly era: 'legacy' | 'modern';
  readonly transport: 'stdio' | 'http';
}

export interface Storm extends AsyncDisposable {
  /** Arguments of `vitrine serve`. */
  readonly args: readonly string[];
  /** The processes that the gateway has started. */
  programs(): Promise<readonly string[]>;
}

let made = 0;

/** Starts the servers over HTTP. The gateway starts the others. */
export async function raise(bads: readonly Bad[]): Promise<Storm> {
  const mark = `storm-${process.pid}-${++made}-${process.hrtime.bigint()}`;
  const children: ChildProcess[] = [];
  const folder = await temporaryFolder({});
  const end = async (): Promise<void> => {
    for (const child of children) child.kill('SIGKILL');
    await folder[Symbol.asyncDispose]();
  };
  try {
    const mounts: Record<string, object | string> = { museum: MUSEUM };
    for (const { kind, era, transport } of bads) {
      const args = [SERVER, kind, '--era', era];
      const name = `${kind}-${era}-${transport}`;
      if (transport === 'stdio')
        mounts[name] = { ...HURRIED, command: process.execPath, args: [...args, '--mark', mark] };
      else mounts[name] = { ...HURRIED, url: await listening(args, children) };
    }
    return { args: await configured(folder, mounts), programs: () => running(mark), [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** How a single server is reached. Over HTTP it is started. */
export async function targetOf({ kind, era, transport }: Bad): Promise<AsyncDisposable & { target: UpstreamTarget }> {
  const children: ChildProcess[] = [];
  const args = [SERVER, kind, '--era', era];
  const target = transport === 'stdio' ? { command: process.execPath, args } : { url: await listening(args, children) };
  return { target, [Symbol.asyncDispose]: async () => void children[0]?.kill('SIGKILL') };
}

async function listening(args: readonly string[], children: ChildProcess[]): Promise<string> {
  const port = await freePort();
  const child = spawn(process.execPath, [...args, '--port', `${port}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await within(once(child.stdout, 'data'), 'a server to listen');
  return `http://127.0.0.1:${port}/mcp`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('it has no port');
  return address.port;
}

async function configured(folder: Folder, mounts: object): Promise<readonly string[]> {
  await folder.write('storm.json', JSON.stringify({ mounts }));
  return ['--config', folder.at('storm.json')];
}
