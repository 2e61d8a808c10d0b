/** Another program that changes files: a process that runs the steps that it is sent. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { within } from '../e2e/waiting.ts';

/** The name of a function of `node:fs/promises`, and its arguments. */
export type Step = readonly [operation: string, ...args: readonly unknown[]];

export interface Hands extends AsyncDisposable {
  /** Runs the steps one after the other, as fast as possible. */
  do(...steps: readonly Step[]): Promise<void>;
  /** Runs the steps again and again, whatever their outcome, until `stop`, which gives the number of rounds. */
  repeat(...steps: readonly Step[]): Promise<{ stop(): Promise<number> }>;
}

interface Answer {
  readonly id: number;
  readonly error?: string;
  readonly rounds?: number;
}

/** Starts the other program. */
export async function startHands(): Promise<Hands> {
  const child = fork(fileURLToPath(new URL('hands-process.mjs', import.meta.url)), { execArgv: [] });
  await within(once(child, 'message'), 'the other program');
  const waiting = new Map<number, (answer: Answer) => void>();
  child.on('message', (answer: Answer) => waiting.get(answer.id)?.(answer));
  let last = 0;

  async function ask(what: object): Promise<Answer> {
    const id = ++last;
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve));
    child.send({ id, ...what });
    try {
      const answer = await within(answered, 'the other program to be done');
      if (answer.error !== undefined) throw new Error(`the other program failed: ${answer.error}`);
      return answer;
    } finally {
      waiting.delete(id);
    }
  }

  return {
    do: async (...steps) => void (await ask({ steps })),
    async repeat(...steps) {
      await ask({ repeat: steps });
      return { stop: async () => (await ask({ stop: true })).rounds ?? 0 };
    },
    [Symbol.asyncDispose]: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
