import { SqlFault } from './thread.ts';

/** Returns why the index cannot be used, for callers: without names of files or of servers. */
export function reasonOf(error: unknown): string {
  if (error instanceof Error && 'syscall' in error) return 'its folder or its file cannot be made or written';
  if (!(error instanceof SqlFault)) return 'it failed; the log has the cause';
  if (error.reason !== undefined) return error.reason;
  switch (error.kind) {
    case 'locked':
      return 'another server has its folder';
    case 'full':
      return 'its file cannot be written or read';
    case 'damaged':
      return 'its file is damaged, and is made anew';
    case 'gone':
    case 'other':
      return 'its database failed; the log has the cause';
  }
}
