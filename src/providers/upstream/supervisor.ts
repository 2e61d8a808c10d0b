/** Keeps one connection to an upstream up, and logs its state. */
import * as connection from '../../connection/supervisor.ts';
import type { Log } from '../../core/context.ts';
import { ResourceError, type ResourceErrorOptions } from '../../core/errors.ts';
import type { Link } from './wire/link.ts';

/** Pauses between attempts to connect. Only a connection that has worked is reopened without a pause. */
const PAUSES = { firstMs: 250, longestMs: 30_000 } as const;

export type Supervisor = connection.Supervisor<Link>;

type Parts = Pick<connection.SupervisorOptions<Link>, 'open' | 'up' | 'barred'>;

export function createSupervisor({
  name,
  log,
  open,
  up,
  barred,
  isProgram = false,
}: Parts & { readonly name: string; readonly log: Log; readonly isProgram?: boolean }): Supervisor {
  const unavailable = (problem: string, more: ResourceErrorOptions = {}): ResourceError =>
    new ResourceError('unavailable', `The server behind "${name}" ${problem}`, more);

  const supervisor: Supervisor = connection.createSupervisor<Link>({
    open,
    close: (link) => link.close(),
    barred,
    pauses: PAUSES,
    holds: true,
    words: {
      failed: (error) =>
        error instanceof ResourceError ? error : unavailable('cannot be reached now', { cause: error }),
      slow: () =>
        unavailable(isProgram ? 'is still starting' : 'has not answered yet', { details: { starting: true } }),
      lost: () => unavailable('has ended the connection'),
      away(cause, retryAfterMs) {
        const { message } = cause ?? unavailable('cannot be reached now');
        return new ResourceError('unavailable', message, { cause, details: { retryAfterMs } });
      },
      closed: () => new ResourceError('unavailable', 'The server is shutting down'),
    },
    up(link, again) {
      const { era, name: server, version } = link;
      log.info('an upstream is connected', { mount: name, era, server, version });
      up(link, again);
    },
    down(cutOff, nextMs) {
      if (cutOff === undefined) log.warn('an upstream has ended its connection', { mount: name });
      else log.warn('an upstream is cut off', { mount: name, reason: cutOff.message, nextMs: Math.round(nextMs) });
    },
    failed(error, { message }, nextMs) {
      const { failures } = supervisor;
      // Logs the whole error only once, since later ones are mostly the same.
      const why = failures === 1 ? { error } : { reason: message };
      log.warn('an upstream cannot be reached', { mount: name, failures, nextMs: Math.round(nextMs), ...why });
    },
  });
  return supervisor;
}
