/** Turns a system error into one that a peer may see. The system's message contains host paths, so it becomes the cause. */
import { notFound, ResourceError } from '../../core/errors.ts';

const MISSING: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EINVAL', 'ENXIO']);
const FORBIDDEN: ReadonlySet<string> = new Set(['EACCES', 'EPERM']);
const BUSY: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EIO',
  'ESTALE',
  'ETIMEDOUT',
  'EBUSY',
  'ENOSPC',
]);

export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/**
 * Whether an error of this provider says that a file is missing, hidden or forbidden. Any other error, such as one for too many
 * open files, leaves open whether the file is there.
 */
export const isAbsent = (error: unknown): boolean =>
  error instanceof ResourceError && (error.code === 'not-found' || error.code === 'denied');

/**
 * Whether nothing can be watched at a path now: it is absent, the root is missing, or the file is deleted at each attempt to open
 * it. The watch on its parent shows when that changes.
 */
export const isNotThere = (error: unknown): boolean =>
  isAbsent(error) || (error instanceof ResourceError && isAbsent(faultOf(error.cause, '')));

export function faultOf(error: unknown, uri: string): unknown {
  const code = systemCode(error);
  if (code === undefined || error instanceof ResourceError) return error;
  if (MISSING.has(code)) return notFound(uri, error);
  if (FORBIDDEN.has(code))
    return new ResourceError('denied', 'The server may not read this resource', { uri, cause: error });
  if (BUSY.has(code))
    return new ResourceError('unavailable', 'The file system does not answer now; try again', { uri, cause: error });
  return new ResourceError('internal', 'The file system failed', { uri, cause: error });
}
