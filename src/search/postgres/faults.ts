/** Says how the database of an index failed, in words that callers may see: without its URL, and without its own messages. */
import { ResourceError } from '../../core/errors.ts';
import { isLostConnection, withoutClient } from '../../providers/sql/postgres/errors.ts';
import { networkFault } from '../../providers/sql/server-url.ts';
import { type FaultKind, SqlFault } from '../thread.ts';

/** Faults by PostgreSQL's error code (appendix A of its manual), or by the beginning of one. */
const FAULTS: readonly (readonly [code: string, kind: FaultKind, reason: string])[] = [
  ['28', 'other', 'its database refuses the user or the password'],
  ['3D000', 'other', 'the server of its database has no database of this name'],
  ['42501', 'other', 'its database does not let it make and fill its schema'],
  ['53100', 'full', 'the disk of its database is full'],
  ['53300', 'other', 'its database has no connection left'],
  ['XX001', 'damaged', 'its tables are damaged, and are made anew'],
  ['XX002', 'damaged', 'its tables are damaged, and are made anew'],
];

/** @returns a ResourceError if only the question is at fault, which took too long or cannot be asked; else a SqlFault */
export function faultOf(error: unknown): SqlFault | ResourceError {
  if (error instanceof SqlFault || error instanceof ResourceError) return error;
  const { code, message = '' } = error as { readonly code?: unknown; readonly message?: string };
  const cause = withoutClient(error);
  if (code === '57014' || message === 'Query read timeout')
    return new ResourceError('timeout', 'The question takes too long; ask for words that are less common', { cause });
  // The question has a value that no column can have.
  if (typeof code === 'string' && code.startsWith('22'))
    return new ResourceError('invalid', 'A number or a text of the question is more than the index can look for', {
      cause,
    });
  const fault = FAULTS.find(([prefix]) => typeof code === 'string' && code.startsWith(prefix));
  if (fault !== undefined) return new SqlFault(fault[1], message, { reason: fault[2], cause });
  if (isLostConnection(error) || networkFault(code) !== undefined)
    return new SqlFault('gone', message, { reason: 'its database does not answer', cause });
  return new SqlFault('other', message, { cause });
}
