/** `vitrine audit verify`. */
import { scrub } from '../core/scrub.ts';
import { MAX_FINDINGS, type VerifyReport, verifyAudit } from '../layers/audit/verify.ts';
import { EXIT_FAILED, UsageError } from './errors.ts';

/** Prints a line for each finding, and one about the whole; sets the status to exit with. */
export async function auditVerify(file: string, head?: string): Promise<void> {
  if (head !== undefined && !/^[0-9a-f]{64}$/.test(head))
    throw new UsageError('--head takes the 64 hex digits that vitrine audit verify printed');
  const report = await verifyAudit(file, head).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined) throw error;
    throw new UsageError(`The audit file ${file} cannot be read: ${error.code}`);
  });
  const { findings } = report;
  for (const { file: where, line, problem } of findings) print(`${where}:${line}: ${problem}`);
  if (findings.length > 0) process.exitCode = EXIT_FAILED;
  if (findings.length === MAX_FINDINGS) print('There may be more; these are the first.');
  print(summary(report));
}

function summary({ files, lines, first, last, lost, findings }: VerifyReport): string {
  const where = `${count(lines, 'line')} in ${count(files.length, 'file')}`;
  const range = first === undefined || last === undefined ? '' : `, number ${first.seq} to ${last.seq}`;
  const gone = lost === 0 ? '' : `; ${count(lost, 'more line')} could not be written, as the audit says itself`;
  const end = last === undefined ? '' : `\nhead: ${last.hash}`;
  return `${findings.length === 0 ? 'ok' : 'not as it was written'}  ${where}${range}${gone}${end}`;
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;

const print = (line: string): void => void process.stdout.write(`${scrub(line)}\n`);
