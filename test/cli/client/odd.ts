/** Starts the odd server of this folder as a command, or over HTTP. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { within } from '../../e2e/waiting.ts';

const PROGRAM = fileURLToPath(new URL('odd-server.mjs', import.meta.url));

/** A command line that starts the odd server. */
export const ODD = `"${process.execPath}" "${PROGRAM}"`;

/** The entry that starts the odd server, as hosts write it. */
export const ODD_ENTRY = { command: process.execPath, args: [PROGRAM] };

/** The token that the odd server accepts over HTTP. */
export const TOKEN = 'let-me-in';

/** Starts the odd server over HTTP. */
export async function oddOverHttp(): Promise<{ readonly url: string } & AsyncDisposable> {
  const child = spawn(process.execPath, [PROGRAM, '--http'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [url] = (await within(once(createInterface({ input: child.stdout }), 'line'), 'its address')) as [string];
  return {
    url,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill();
      await within(ended, 'its end');
    },
  };
}

/** Matches characters that a terminal acts on or does not show, except tabs and line feeds. */
export const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e]/;
