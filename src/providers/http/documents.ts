/**
 * Reads documents that others wrote: of APIs and of feeds. Small documents of APIs are read at once; everything else on a
 * thread, with limits in time and memory, so that nothing that a server sends keeps others waiting.
 */
import { setMaxListeners } from 'node:events';
import { ResourceError } from '../../core/errors.ts';
import { loadPlugIn } from '../../core/plug-in.ts';
import { builtProgram } from '../../core/threads/built-program.ts';
import { createThreadPool } from '../../core/threads/thread-pool.ts';
import type { Answer, Task } from './program.ts';
import type { ApiReading, ApiSource, DocumentPlugIn, FeedEntry, FeedSource } from './readings.ts';

/** A document of an API up to this size is read on the event loop: the worst that is known takes some 10 ms. */
const MAX_HERE_BYTES = 4 * 1024;

/** The most threads of all mounts together; each mount has one at a time. */
const MAX_THREADS = 2;

/** The most documents of all mounts that wait for a thread. */
const MAX_WAITING = 256;

/** For one document, in milliseconds. 1 MB of JSON takes about 20, and 1 MB of YAML about 1,000. */
export const MAX_READING_MS = 30_000;

/** Of a thread, in MiB. */
const MAX_HEAP_MB = 384;

/** Of all mounts: each of them may have many documents, and there are few cores. */
const threads = createThreadPool<Task, Answer>({
  thread: () => ({ program: programText(), maxHeapMb: MAX_HEAP_MB }),
  maxThreads: MAX_THREADS,
  maxWaiting: MAX_WAITING,
  timeoutMs: MAX_READING_MS,
});

const programText = (): string =>
  `import(${JSON.stringify(builtProgram('providers/http/program').href)}).then((program) => program.serveDocuments())`;

/** Readers that are open; with the last of them the threads end. */
let open = 0;

export interface Documents {
  /** @throws ResourceError `invalid`, `too-large`, `timeout`, `unavailable`, `limited` */
  api(bytes: Uint8Array, source: ApiSource): Promise<ApiReading>;
  /** @throws ResourceError `unavailable` for what is no feed; `too-large`, `timeout`, `limited` */
  feed(bytes: Uint8Array, source: FeedSource): Promise<readonly FeedEntry[]>;
  /** Ends what is being read. */
  close(): Promise<void>;
}

export function openDocuments(): Documents {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const mount = {};
  open++;

  async function onThread<Read>(task: Task, what: string): Promise<Read> {
    const outcome = await threads.run(task, mount, closing.signal);
    switch (outcome.kind) {
      case 'answer': {
        const { answer } = outcome;
        if ('read' in answer) return answer.read as Read;
        const { code, message, cause } = answer.problem;
        throw new ResourceError(code, message, { cause: new Error(cause) });
      }
      case 'memory':
        throw new ResourceError('too-large', `${what} takes more memory than may be used to read it`, {
          details: { limit: MAX_HEAP_MB * 1024 * 1024 },
        });
      case 'timeout':
        throw new ResourceError('timeout', `${what} cannot be read in time`, { details: { limitMs: MAX_READING_MS } });
      case 'failed':
        throw new ResourceError('unavailable', `${what} cannot be read`, { cause: outcome.cause });
    }
  }

  return {
    async api(bytes, source) {
      if (bytes.byteLength > MAX_HERE_BYTES) return onThread({ plugIn: 'openapi', bytes, source }, source.what);
      return (await loadPlugIn<DocumentPlugIn<ApiSource, ApiReading>>('openapi')).read(bytes, source);
    },
    feed: (bytes, source) => onThread({ plugIn: 'feeds', bytes, source }, 'The feed'),
    async close() {
      if (closing.signal.aborted) return;
      closing.abort(new ResourceError('unavailable', 'The server is stopping'));
      open--;
      if (open === 0) await threads.rest();
    },
  };
}
