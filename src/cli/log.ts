/** The server's own log: JSON lines on standard error, since standard output belongs to the protocol on stdio. */
import type { Writable } from 'node:stream';
import { type DestinationStream, pino } from 'pino';
import type { Secrets } from '../config/secrets.ts';
import type { Log } from '../core/context.ts';
import type { LogLevel } from './log-levels.ts';

/**
 * @param secrets are removed from every line
 * @param errors standard error. The process's own is written synchronously, so that no line is lost at exit
 */
export function createLog(level: LogLevel, secrets: Secrets, errors: Writable = process.stderr): Log {
  const destination: DestinationStream = errors === process.stderr ? pino.destination({ dest: 2, sync: true }) : errors;
  const hidden = {
    write: (line: string) => destination.write(`${JSON.stringify(secrets.hideIn(JSON.parse(line)))}\n`),
  };
  const logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => void (secrets.some ? hidden : destination).write(line) },
  );
  const write =
    (at: Exclude<LogLevel, 'silent'>) =>
    (message: string, { error, ...facts }: Readonly<Record<string, unknown>> = {}): void => {
      logger[at](error === undefined ? facts : { ...facts, err: error }, message);
    };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
