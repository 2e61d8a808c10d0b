/** Makes the client's error when an upstream fails: the server's own error, or one that says how the connection failed. */
import type { Era } from '../../../connection/data.ts';
import { type ConnectionFault, faultOf } from '../../../connection/faults.ts';
import { MAX_MESSAGE_DEPTH } from '../../../connection/intake.ts';
import { PeerError, ResourceError, type WireError } from '../../../core/errors.ts';

/**
 * @param name the name of the mount, for the message; @param signal the caller's: once it is aborted, its reason is the
 * error, except for faults in `OUR_LIMIT`
 */
export function upstreamError(error: unknown, name: string, era?: Era, signal?: AbortSignal): unknown {
  if (error instanceof ResourceError) return error;
  const fault = faultOf(error, era);
  if (signal?.aborted === true && !OUR_LIMIT.has(fault.kind)) return signal.reason;
  const server = `The server behind "${name}"`;
  const cause = fault.cause ?? fault;
  switch (fault.kind) {
    case 'answered':
      // The data of an error may be any JSON. Vitrine passes it on, and reads it only where it is an object.
      return new PeerError(fault.answer as WireError);
    case 'too-large':
      return new ResourceError('too-large', `${server} gave an answer that ${tooMuch(fault)}`);
    case 'cut-off':
      return cutOffError(fault, name);
    case 'refused':
      return new ResourceError('unavailable', `${server} does not let Vitrine in`, { cause });
    case 'late':
      return new ResourceError('timeout', `${server} did not answer in time`, { cause });
    case 'garbled':
      return new ResourceError('internal', `${server} ${fault.message || 'gave an answer that is not valid'}`, {
        cause,
      });
    case 'unanswered':
    case 'unsupported':
    case 'ended':
    case 'unreachable':
      return new ResourceError('unavailable', `${server} cannot be reached now`, { cause });
  }
}

/** Returns the error for a request to a server that Vitrine disconnected because it exceeded a limit. */
export const cutOffError = ({ message }: ConnectionFault, name: string): ResourceError =>
  new ResourceError('unavailable', `The server behind "${name}" is cut off for a while, because it ${message}`);

/** Faults that Vitrine itself finds: they are reported even when the caller has left. */
const OUR_LIMIT: ReadonlySet<string> = new Set(['too-large', 'cut-off']);

function tooMuch({ limit }: ConnectionFault): string {
  switch (limit) {
    case 'depth':
      return `is nested deeper than ${MAX_MESSAGE_DEPTH} levels; ask it for something else`;
    case 'values':
      return 'has more values than maxMessageValues of its mount allows; ask for less, or raise the limit';
    default:
      return 'has more bytes than maxMessageBytes of its mount allows; ask for less, or raise the limit';
  }
}
