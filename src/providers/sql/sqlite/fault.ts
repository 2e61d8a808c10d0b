/** Turns an error of SQLite into a ResourceError, whose cause has SQLite's own message. Peers do not see the cause. */
import { invalid, ResourceError } from '../../../core/errors.ts';

/** An error as the process that reads the database sends it. */
export interface Fault {
  readonly message: string;
  /** SQLite's result code, which may be an extended one. */
  readonly errcode?: number | undefined;
  /** The code of an error of Node. */
  readonly code?: string | undefined;
}

const GENERIC = 1;
const BUSY = 5;
const LOCKED = 6;
const IO = 10;
const CORRUPT = 11;
const CANNOT_OPEN = 14;
const TOO_BIG = 18;
const MISMATCH = 20;
const NOT_ALLOWED = 23;
const RANGE = 25;
const NOT_A_DATABASE = 26;

export function faultOf(fault: Fault): ResourceError {
  const cause = new Error(fault.message);
  switch ((fault.errcode ?? 0) & 0xff) {
    case BUSY:
    case LOCKED:
      return new ResourceError('unavailable', 'The database is locked by a program that writes to it; try again', {
        cause,
      });
    case IO:
    case CANNOT_OPEN:
      return new ResourceError('unavailable', 'The database cannot be opened or read now', { cause });
    case CORRUPT:
    case NOT_A_DATABASE:
      return new ResourceError('internal', 'The database file is damaged or is not a database', { cause });
    case TOO_BIG:
      return new ResourceError('too-large', 'A value is larger than the database can give', { cause });
    case NOT_ALLOWED:
      return new ResourceError('denied', 'The statement would do something other than read', { cause });
    case MISMATCH:
    case RANGE:
      return invalid('A value does not fit its column').withCause(cause);
    case GENERIC:
      if (/^no such (?:table|column)/.test(fault.message))
        return new ResourceError('not-found', 'The table or one of its columns no longer exists', { cause });
      return new ResourceError('internal', 'The database refuses the statement', { cause });
    default:
      // The package refuses values for which SQLite has no type.
      if (fault.code === 'ERR_INVALID_ARG_VALUE' || /BigInt|bind/i.test(fault.message))
        return invalid('A value does not fit its column').withCause(cause);
      return new ResourceError('internal', 'The database refuses the statement', { cause });
  }
}
