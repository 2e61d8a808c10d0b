/** The server's own log: JSON lines on standard error, never on standard output, which belongs to the protocol on stdio. */
import { pino } from 'pino';
import type { Log } from '../core/context.ts';

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export function createLog(level: LogLevel): Log {
  const logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  );
  const write =
    (at: Exclude<LogLevel, 'silent'>) =>
    (message: string, { error, ...facts }: Readonly<Record<string, unknown>> = {}): void => {
      logger[at](error === undefined ? facts : { ...facts, err: error }, message);
    };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
