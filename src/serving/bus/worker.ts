/** The bus between workers of one machine. Their parent passes each text on to the other workers, and holds the shared memory. */
import type { Bus, BusMemory, Room, Share, SharedRate } from '../../core/bus.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Keys } from '../../core/keys.ts';
import { createBus } from './bus.ts';
import type { Hub } from './hub.ts';

/** A channel to another process: from a worker to its parent, or from the parent to a worker. */
export interface ProcessChannel {
  send(message: object): void;
  /** @returns removes the listener */
  onMessage(listener: (message: unknown) => void): () => void;
}

/** The most calls to the parent that wait for their answer. */
const MAX_CALLS = 20_000;

type Call =
  | readonly ['put', key: string, field: string, text: string, ttlMs: number]
  | readonly ['replace', key: string, field: string, text: string, ttlMs: number]
  | readonly ['remove', key: string, field: string]
  | readonly ['take', key: string, wanted: number, rate: SharedRate]
  | readonly ['lease', name: string, holder: string, ttlMs: number]
  | readonly ['release', name: string, holder: string]
  | readonly ['keep', name: string, text: string, room: Room]
  | readonly ['kept', name: string]
  | readonly ['all', key: string];

type ToParent =
  | { readonly vitrine: 'hello' }
  | { readonly vitrine: 'say'; readonly text: string }
  | { readonly vitrine: 'call'; readonly id: number; readonly call: Call };

type ToWorker =
  | { readonly vitrine: 'keys'; readonly keys: readonly string[] }
  | { readonly vitrine: 'said'; readonly text: string }
  | { readonly vitrine: 'answer'; readonly id: number; readonly result?: unknown; readonly problem?: string };

const isOurs = (message: unknown): boolean => typeof message === 'object' && message !== null && 'vitrine' in message;

/** Serves a worker, in the parent. @returns stops serving it */
export function serveWorker(channel: ProcessChannel, hub: Hub, keys: Keys): () => void {
  const tell = (message: ToWorker): void => channel.send(message);
  const { send, leave } = hub.join((text) => tell({ vitrine: 'said', text }));

  async function answer(id: number, [name, key, ...args]: Call): Promise<void> {
    try {
      const memory = hub.memory as unknown as Record<Call[0], (...values: readonly unknown[]) => Promise<unknown>>;
      const result = await memory[name](key, ...args);
      tell({ vitrine: 'answer', id, result: result instanceof Map ? [...result] : result });
    } catch (error) {
      tell({ vitrine: 'answer', id, problem: (error as Error).message });
    }
  }

  const forget = channel.onMessage((message) => {
    if (!isOurs(message)) return;
    const request = message as ToParent;
    if (request.vitrine === 'hello')
      tell({ vitrine: 'keys', keys: keys.map((key) => Buffer.from(key).toString('base64')) });
    else if (request.vitrine === 'say') send(request.text);
    else void answer(request.id, request.call);
  });
  return () => {
    forget();
    leave();
  };
}

/** Opens the bus of a worker. Resolves when the parent has sent the keys, which are the same for all workers. */
export async function workerBus(channel: ProcessChannel): Promise<{ readonly bus: Bus; readonly keys: Keys }> {
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: unknown): void }>();
  const tell = (message: ToParent): void => channel.send(message);
  let calls = 0;
  let setKeys: (keys: Keys) => void = () => {};
  const sharedKeys = new Promise<Keys>((resolve) => {
    setKeys = resolve;
  });

  function call<T>(...args: Call): Promise<T> {
    if (waiting.size >= MAX_CALLS) throw new ResourceError('unavailable', 'The parent of the workers does not answer');
    const id = ++calls;
    return new Promise<T>((resolve, reject) => {
      waiting.set(id, { resolve: (result) => resolve(result as T), reject });
      tell({ vitrine: 'call', id, call: args });
    });
  }

  const memory: BusMemory = {
    put: async (key, field, text, ttlMs) => call<number>('put', key, field, text, ttlMs),
    replace: async (key, field, text, ttlMs) => void (await call('replace', key, field, text, ttlMs)),
    remove: async (key, field) => void (await call('remove', key, field)),
    take: async (key, wanted, rate) => call<Share>('take', key, wanted, rate),
    lease: async (name, holder, ttlMs) => call<boolean>('lease', name, holder, ttlMs),
    release: async (name, holder) => void (await call('release', name, holder)),
    keep: async (name, text, room) => void (await call('keep', name, text, room)),
    kept: async (name) => call<string | undefined>('kept', name),
    all: async (key) => new Map(await call<readonly (readonly [string, string])[]>('all', key)),
  };
  const bus = createBus(({ received }) => {
    const forget = channel.onMessage((message) => {
      if (!isOurs(message)) return;
      const answer = message as ToWorker;
      if (answer.vitrine === 'keys') setKeys(answer.keys.map((key) => Buffer.from(key, 'base64')));
      else if (answer.vitrine === 'said') received(answer.text);
      else {
        const caller = waiting.get(answer.id);
        waiting.delete(answer.id);
        if (answer.problem === undefined) caller?.resolve(answer.result);
        else caller?.reject(new ResourceError('unavailable', answer.problem));
      }
    });
    return {
      async send(text) {
        tell({ vitrine: 'say', text });
        return true;
      },
      whole: true,
      memory,
      async close() {
        forget();
        for (const { reject } of waiting.values())
          reject(new ResourceError('unavailable', 'The server is shutting down'));
        waiting.clear();
      },
    };
  });
  tell({ vitrine: 'hello' });
  return { bus, keys: await sharedKeys };
}
