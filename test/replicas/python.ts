/** Clients on the Python SDK that work while replicas come and go (`work.py`). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { within } from '../e2e/waiting.ts';
import { absence, CLIENTS } from '../interop/clients/index.ts';

const PROGRAM = fileURLToPath(new URL('work.py', import.meta.url));
const CLIENT = CLIENTS.find(({ name }) => name === 'python-2');

export interface PythonClients extends AsyncDisposable {
  /** Resolves when all have got an update and read this text, with the number of entries that each finds in the default list. */
  read(text: string): Promise<readonly number[]>;
}

/**
 * Starts one client for each revision, subscribed to a resource. If the SDK is not installed, it starts none; in CI that is an
 * error.
 */
export async function startPythons(url: string, uri: string): Promise<PythonClients> {
  const why = CLIENT === undefined ? 'there is none' : absence(CLIENT);
  if (why !== undefined) console.info(`Left out: clients on the Python SDK; ${why}`);
  const revisions = why === undefined ? (CLIENT?.revisions ?? []) : [];
  const clients: PythonClient[] = [];
  const close = async (): Promise<void> => void (await Promise.all(clients.map((each) => each[Symbol.asyncDispose]())));
  try {
    for (const revision of revisions) clients.push(await startPython({ url, revision, uri }));
  } catch (error) {
    await close();
    throw error;
  }
  return { read: (text) => Promise.all(clients.map((each) => each.reads(text))), [Symbol.asyncDispose]: close };
}

interface PythonClient extends AsyncDisposable {
  reads(text: string): Promise<number>;
}

/** Resolves when the client is connected; a client of 2025 has subscribed by then. */
async function startPython(plan: {
  readonly url: string;
  readonly revision: string;
  readonly uri: string;
}): Promise<PythonClient> {
  const child = spawn(CLIENT?.command ?? '', ['-B', PROGRAM, JSON.stringify(plan)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = once(child, 'close').then(() => {
    throw new Error(`The client of ${plan.revision} has ended: ${stderr.slice(-4_000)}`);
  });
  ended.catch(() => {});
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async (what: string): Promise<Readonly<Record<string, unknown>>> => {
    const { value, done } = await within(
      Promise.race([lines.next(), ended]),
      `${what} in Python: ${stderr.slice(-4_000)}`,
    );
    return done === true ? await ended : JSON.parse(value);
  };
  const { revision } = await next('the connection');
  if (revision !== plan.revision) throw new Error(`The client speaks ${revision}, and not ${plan.revision}`);
  return {
    async reads(text) {
      child.stdin.write(`${text}\n`);
      const said = await next(`the reading of ${text}`);
      if (said.text !== text) throw new Error(`The client has read ${said.text}, and not ${text}`);
      return Number(said.entries);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended.catch(() => {});
    },
  };
}
