/** The server's own log: JSON lines on standard error, never on standard output, which belongs to the protocol on stdio. */
import type { Writable } from 'node:stream';
import { type DestinationStream, pino } from 'pino';
import type { Secrets } from '../config/secrets.ts';
import type { Log } from '../core/context.ts';
import type { LogLevel } from './log-levels.ts';

/**
 * @param secrets what no line has in it, whoever wrote it
 * @param errors standard error; the process's own is written to at once, so that nothing is lost as it ends
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
