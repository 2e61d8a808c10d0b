/** Makes the error for the client that waits for an upstream that failed: the server's own, or that it cannot be reached. */
import type { Era } from '../../../connection/data.ts';
import { type ConnectionFault, faultOf } from '../../../connection/faults.ts';
import { MAX_MESSAGE_DEPTH } from '../../../connection/intake.ts';
import { PeerError, ResourceError, type WireError } from '../../../core/errors.ts';

/** @param name the mount, in words for the client; @param signal of the caller, whose own reasons stand */
export function upstreamError(error: unknown, name: string, era?: Era, signal?: AbortSignal): unknown {
  if (error instanceof ResourceError) return error;
  const fault = faultOf(error, era);
  if (signal?.aborted === true && !OUR_LIMIT.has(fault.kind)) return signal.reason;
  const server = `The server behind "${name}"`;
  const cause = fault.cause ?? fault;
  switch (fault.kind) {
    case 'answered':
      // Any JSON may be the data of an error; it is handed on, and looked into only where it is an object.
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

/** The error for those who want something of a server that was cut off because it went over a limit. */
export const cutOffError = ({ message }: ConnectionFault, name: string): ResourceError =>
  new ResourceError('unavailable', `The server behind "${name}" was cut off for a while, since it ${message}`);

/** Seen on this side: a caller that goes away does not change it. */
const OUR_LIMIT: ReadonlySet<string> = new Set(['too-large', 'cut-off']);

function tooMuch({ limit }: ConnectionFault): string {
  switch (limit) {
    case 'depth':
      return `is nested deeper than ${MAX_MESSAGE_DEPTH} levels; ask it for something else`;
    case 'values':
      return 'has more values in it than maxMessageValues of its mount allows; ask it for less, or raise that';
    default:
      return 'has more bytes than maxMessageBytes of its mount allows; ask it for less, or raise that';
  }
}
