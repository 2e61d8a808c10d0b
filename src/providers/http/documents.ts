/**
 * Reads documents of APIs, and feeds. A small document of an API is read on the event loop. Everything else is read on
 * a thread with limits in time and memory, so that a document cannot hold up other requests.
 */
import { setMaxListeners } from 'node:events';
import { ResourceError } from '../../core/errors.ts';
import { loadPlugIn } from '../../core/plug-in.ts';
import { builtProgram } from '../../core/threads/built-program.ts';
import { createThreadPool } from '../../core/threads/thread-pool.ts';
import type { Answer, Task } from './program.ts';
import type { ApiReading, ApiSource, DocumentPlugIn, FeedEntry, FeedSource } from './readings.ts';

/** The most bytes of a document of an API that is read on the event loop. The worst known one takes about 10 ms. */
const MAX_HERE_BYTES = 4 * 1024;

/** The most threads of all mounts together; each mount has one at a time. */
const MAX_THREADS = 2;

/** The most documents of all mounts that wait for a thread. */
const MAX_WAITING = 256;

/** The most milliseconds for reading one document. 1 MB of JSON takes about 20, and 1 MB of YAML about 1,000. */
export const MAX_READING_MS = 30_000;

/** The most memory of a thread, in MiB. */
const MAX_HEAP_MB = 384;

/** The threads of all mounts together, since each mount may have many documents, and there are few cores. */
const threads = createThreadPool<Task, Answer>({
  thread: () => ({ program: programText(), maxHeapMb: MAX_HEAP_MB }),
  maxThreads: MAX_THREADS,
  maxWaiting: MAX_WAITING,
  timeoutMs: MAX_READING_MS,
});

const programText = (): string =>
  `import(${JSON.stringify(builtProgram('providers/http/program').href)}).then((program) => program.serveDocuments())`;

/** The number of open readers. When the last one closes, the threads end. */
let open = 0;

export interface Documents {
  /** Reads the document of an API. @throws ResourceError `invalid`, `too-large`, `timeout`, `unavailable`, `limited` */
  api(bytes: Uint8Array, source: ApiSource): Promise<ApiReading>;
  /** Reads a feed. @throws ResourceError `unavailable` for bytes that are not a feed; `too-large`, `timeout`, `limited` */
  feed(bytes: Uint8Array, source: FeedSource): Promise<readonly FeedEntry[]>;
  /** Ends the readings that are under way. */
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
        throw new ResourceError('too-large', `${what} takes too much memory to read`, {
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
