/** Runs `vitrine open` as a program, and sends requests as a browser that has the key. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { CLI, ROOT } from '../e2e/harness.ts';
import { until, within } from '../e2e/waiting.ts';

export interface Opened extends AsyncDisposable {
  /** The address with the key, which works once. */
  readonly entry: string;
  readonly origin: string;
  /** Sends a request of the browser that was let in. */
  get(path: string, init?: RequestInit): Promise<Response>;
  /** Ends the program as Ctrl+C does. Resolves with the exit status. */
  stop(): Promise<number | null>;
}

/** Runs `vitrine open`; the first `get` goes in with the key that it prints. */
export async function opened(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Opened> {
  const { DISPLAY: _display, WAYLAND_DISPLAY: _wayland, BROWSER: _browser, ...inherited } = process.env;
  const child = spawn(process.execPath, [CLI, 'open', ...args], { cwd: ROOT, env: { ...inherited, ...env } });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
  const ended = once(child, 'close') as Promise<[number | null]>;
  const printed = () => /http:\S+\?key=\S+/.exec(said)?.[0];
  await until(() => printed() !== undefined || child.exitCode !== null, 'the address');
  const entry = printed();
  if (entry === undefined) throw new Error(said);
  const stop = async (): Promise<number | null> => {
    child.kill('SIGINT');
    return (await within(ended, 'its end'))[0];
  };
  const { origin } = new URL(entry);
  let cookie: string | undefined;
  return {
    entry,
    origin,
    async get(path, init = {}) {
      cookie ??= (await fetch(entry, { redirect: 'manual' })).headers.get('set-cookie')?.split(';')[0] ?? '';
      return fetch(origin + path, { redirect: 'manual', ...init, headers: { ...init.headers, cookie } });
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}
