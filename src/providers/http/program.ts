/** The program of the threads that read documents. */
import { parentPort } from 'node:worker_threads';
import { ResourceError, type ResourceErrorCode } from '../../core/errors.ts';
import { loadPlugIn } from '../../core/plug-in.ts';
import type { ApiReading, ApiSource, DocumentPlugIn, FeedEntry, FeedSource } from './readings.ts';

/** A message to the program: a document, and the plug-in that reads it. */
export interface Task {
  readonly plugIn: 'feeds' | 'openapi';
  readonly bytes: Uint8Array;
  readonly source: ApiSource | FeedSource;
}

/** The program's answer. */
export type Answer =
  | { readonly read: ApiReading | readonly FeedEntry[] }
  | { readonly problem: { readonly code: ResourceErrorCode; readonly message: string; readonly cause: string } };

/** Reads each document that is sent to the thread, and sends the answer back, until the thread ends. */
export function serveDocuments(): void {
  parentPort?.on('message', (task: Task) => {
    void answerTo(task).then((answer) => parentPort?.postMessage(answer));
  });
}

async function answerTo({ plugIn, bytes, source }: Task): Promise<Answer> {
  try {
    const { read } = await loadPlugIn<DocumentPlugIn<Task['source'], ApiReading | readonly FeedEntry[]>>(plugIn);
    return { read: await read(bytes, source) };
  } catch (error) {
    const { code, message } = error instanceof ResourceError ? error : new ResourceError('unavailable', UNREADABLE);
    return { problem: { code, message, cause: causeOf(error) } };
  }
}

const UNREADABLE = 'The document cannot be read';

/** Returns the cause of an error as text for the log. */
function causeOf(error: unknown): string {
  const cause = error instanceof ResourceError ? (error.cause ?? error) : error;
  return String(cause instanceof Error ? cause.message : cause).slice(0, 1_000);
}
