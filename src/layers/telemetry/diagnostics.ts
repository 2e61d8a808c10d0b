/** Writes the messages of OpenTelemetry, such as that a collector is away, to the server's own log. */
import { DiagLogLevel, diag } from '@opentelemetry/api';
import type { Log } from '../../core/context.ts';

/** At most one message in this many milliseconds is a warning; the others are for debugging. */
const PAUSE_MS = 60_000;

/** Writes messages to the log until the returned function is called. A process has one such log: the latest. */
export function reportTo(log: Log): () => void {
  let lastWarning = Number.NEGATIVE_INFINITY;
  const report = (message: string, ...facts: readonly unknown[]): void => {
    const now = Date.now();
    const level = now - lastWarning >= PAUSE_MS ? 'warn' : 'debug';
    if (level === 'warn') lastWarning = now;
    log[level]('telemetry', { said: [message, ...facts.map(textOf)].join(' ') });
  };
  const ignore = (): void => {};
  diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  return () => diag.disable();
}

const textOf = (fact: unknown): string => (fact instanceof Error ? fact.message : String(fact));
