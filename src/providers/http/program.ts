/** The program of the threads that read documents: one after the other, as they are sent. */
import { parentPort } from 'node:worker_threads';
import { ResourceError, type ResourceErrorCode } from '../../core/errors.ts';
import { type FeedEntry, type FeedSource, readFeed } from './feeds.ts';
import { type ApiReading, type ApiSource, readApi } from './openapi/index.ts';

/** A message to the program: a document to read. */
export type Task =
  | { readonly kind: 'api'; readonly bytes: Uint8Array; readonly source: ApiSource }
  | { readonly kind: 'feed'; readonly bytes: Uint8Array; readonly source: FeedSource };

/** The program's answer. */
export type Answer =
  | { readonly read: ApiReading | readonly FeedEntry[] }
  | { readonly problem: { readonly code: ResourceErrorCode; readonly message: string; readonly cause: string } };

/** Answers what is sent to the thread, until it is ended. */
export function serveDocuments(): void {
  parentPort?.on('message', (task: Task) => {
    void answerTo(task).then((answer) => parentPort?.postMessage(answer));
  });
}

const read = async (task: Task): Promise<ApiReading | readonly FeedEntry[]> =>
  task.kind === 'api' ? readApi(new TextDecoder().decode(task.bytes), task.source) : readFeed(task.bytes, task.source);

async function answerTo(task: Task): Promise<Answer> {
  try {
    return { read: await read(task) };
  } catch (error) {
    const { code, message } = error instanceof ResourceError ? error : new ResourceError('unavailable', UNREADABLE);
    return { problem: { code, message, cause: causeOf(error) } };
  }
}

const UNREADABLE = 'The document cannot be read';

/** For the log. */
function causeOf(error: unknown): string {
  const cause = error instanceof ResourceError ? (error.cause ?? error) : error;
  return String(cause instanceof Error ? cause.message : cause).slice(0, 1_000);
}
