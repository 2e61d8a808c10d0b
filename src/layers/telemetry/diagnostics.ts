/** Writes the messages of OpenTelemetry, such as that a collector is away, to the server's own log. */
import { DiagLogLevel, diag } from '@opentelemetry/api';
import type { Log } from '../../core/context.ts';

/** A collector that is away is told once in so many milliseconds. */
const PAUSE_MS = 60_000;

/** Tells the log until the returned function is called. There is one such log in a process: the latest. */
export function reportTo(log: Log): () => void {
  let told = Number.NEGATIVE_INFINITY;
  const say = (message: string, ...facts: readonly unknown[]): void => {
    const now = Date.now();
    const level = now - told >= PAUSE_MS ? 'warn' : 'debug';
    if (level === 'warn') told = now;
    log[level]('telemetry', { said: [message, ...facts.map(textOf)].join(' ') });
  };
  const ignore = (): void => {};
  diag.setLogger(
    { error: say, warn: say, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  return () => diag.disable();
}

const textOf = (fact: unknown): string => (fact instanceof Error ? fact.message : String(fact));
