/** `vitrine doctor`: examines a server. */
import type { Secrets } from '../../../config/secrets.ts';
import { CommandFailure, UsageError } from '../../errors.ts';
import { withOutput } from '../ending.ts';
import { EXIT_DENIED, EXIT_FAILED, EXIT_OK, EXIT_UNAVAILABLE } from '../exit-codes.ts';
import { countOf, numberOf } from '../printing/numbers.ts';
import { jsonText, safe, safeLines } from '../printing/output.ts';
import type { ServerFlags } from '../reaching/connect.ts';
import { openTarget } from '../reaching/target.ts';
import { CHECKS } from './checks/index.ts';
import { type Diagnosis, diagnose } from './diagnose.ts';
import { reportText } from './report.ts';
import type { Era } from './wire.ts';

export interface DoctorFlags extends ServerFlags {
  readonly callTools?: boolean;
  readonly strict?: boolean;
  readonly era?: '2025' | '2026';
  readonly check?: readonly string[];
  readonly skip?: readonly string[];
  readonly sample?: string;
  readonly verbose?: boolean;
}

const DEFAULT_SAMPLE = 20;
const DEFAULT_TIMEOUT_SECONDS = 15;
const ERA: Readonly<Record<string, readonly Era[]>> = { 2025: ['legacy'], 2026: ['modern'] };

/** Examines a server, and prints the report. Exits with 1 if there are errors or, with `--strict`, warnings. */
export function doctor(typed: string, flags: DoctorFlags, secrets: Secrets): Promise<void> {
  return withOutput(flags, secrets, async (output, signal) => {
    for (const id of [...(flags.check ?? []), ...(flags.skip ?? [])]) {
      if (!CHECKS.some((check) => check.id === id)) throw new UsageError(`There is no check "${safe(id)}"`);
    }
    const sample = countOf(flags.sample, '--sample', DEFAULT_SAMPLE);
    const timeoutMs =
      flags.timeout === undefined ? undefined : numberOf(flags.timeout, '--timeout', 0.001, 86_400) * 1_000;
    const { label, server } = await openTarget(typed, flags, secrets);
    const onStderr = (text: string): void => void process.stderr.write(safeLines(secrets.hide(text)));
    const target = 'command' in server && flags.serverLog === true ? { ...server, onStderr } : server;
    let printed: Promise<void> = Promise.resolve();
    output.progress(`connecting to ${label}`);
    const diagnosis = await diagnose(target, {
      callTools: flags.callTools,
      eras: flags.era === undefined ? undefined : ERA[flags.era],
      only: flags.check,
      skip: flags.skip,
      sample,
      timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_SECONDS * 1_000,
      connectTimeoutMs: timeoutMs,
      signal,
      onCheck: (id) => output.progress(`checking ${label}: ${id}`),
      onResult(result) {
        if (output.form !== 'jsonl') return;
        printed = printed.then(() => output.line(secrets.hide(jsonText(result))));
        // When the reader of the output is gone, the signal ends the work.
        printed.catch(() => {});
      },
    });
    output.progress();
    await printed;
    if (diagnosis.eras.every(({ refused }) => refused !== undefined)) throw notConnected(diagnosis, label);
    const { results: _, ...summary } = diagnosis;
    const report = output.form === 'jsonl' ? { report: summary } : diagnosis;
    const options = { verbose: flags.verbose === true, label };
    await output.document(report, () => secrets.hide(reportText(diagnosis, options, output)));
    const { errors, warnings } = diagnosis;
    return errors > 0 || (flags.strict === true && warnings > 0) ? EXIT_FAILED : EXIT_OK;
  });
}

function notConnected({ eras, said = '' }: Diagnosis, label: string): CommandFailure {
  const why = [...new Set(eras.map(({ refused }) => safe(refused ?? '')))].join('; ');
  const lines = said
    .trim()
    .split('\n')
    .slice(-3)
    .map((line) => safe(line.trim()));
  const words = said.trim() === '' ? '' : `; it said: ${lines.join(' / ').slice(-500)}`;
  const denied = eras.some(({ refused = '' }) => refused.startsWith('HTTP 401') || refused.startsWith('HTTP 403'));
  return new CommandFailure(`${label}: ${why}${words}`, denied ? EXIT_DENIED : EXIT_UNAVAILABLE);
}
