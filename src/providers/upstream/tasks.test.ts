import { beforeEach, expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import { createTasks, type Tasks, type TasksSetup } from './tasks.ts';

/** The most tasks that are watched. */
const MOST = 1_000;

/** The watches that the connection has. */
let watching: number;
let view: { running: number; usedAt: number; watching: { task(): Promise<AsyncDisposable> } };
let tasks: Tasks;

beforeEach(() => {
  watching = 0;
  view = {
    running: 0,
    usedAt: 0,
    watching: {
      async task() {
        watching++;
        return { [Symbol.asyncDispose]: async () => void watching-- };
      },
    },
  };
  tasks = createTasks({ name: 'up', connections: { of: async () => view } } as unknown as TasksSetup);
});

const watch = (): Promise<AsyncDisposable> => tasks.watch('1', () => {}, createContext());
const watchMany = (count: number): Promise<PromiseSettledResult<AsyncDisposable>[]> =>
  Promise.allSettled(Array.from({ length: count }, watch));

it('tasks are watched up to a limit, even if all watches begin at the same time', async () => {
  const begun = await watchMany(MOST + 5);
  expect(begun.filter(({ status }) => status === 'rejected')).toHaveLength(5);
  expect(begun.at(-1)).toMatchObject({ reason: { code: 'limited' } });
  expect([watching, view.running]).toEqual([MOST, MOST]);
  for (const each of begun) if (each.status === 'fulfilled') await each.value[Symbol.asyncDispose]();
  expect([watching, view.running]).toEqual([0, 0]);
  await watch();
});

it('a watch of a task ends once, even if it is disposed of twice', async () => {
  const lasting = await watch();
  const twice = await watch();
  await twice[Symbol.asyncDispose]();
  await twice[Symbol.asyncDispose]();
  expect([watching, view.running]).toEqual([1, 1]);
  await lasting[Symbol.asyncDispose]();
});

it.each(['connection', 'watch'])('a task watch that gets no %s does not count', async (missing) => {
  const { task } = view.watching;
  let fails = true;
  const refused = async (): Promise<never> => {
    throw new Error('refused');
  };
  const connections = { of: async () => (fails && missing === 'connection' ? refused() : view) };
  view.watching.task = async () => (fails ? refused() : task());
  tasks = createTasks({ name: 'up', connections } as unknown as TasksSetup);
  for (const { status } of await watchMany(MOST)) expect(status).toBe('rejected');
  expect(view.running).toBe(0);
  fails = false;
  for (const { status } of await watchMany(MOST)) expect(status).toBe('fulfilled');
});
