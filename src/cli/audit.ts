/** `vitrine audit verify` checks the chains of an audit, and `vitrine audit merge` prints several chains as one. */
import { once } from 'node:events';
import { scrub } from '../core/text/scrub.ts';
import { readAnchors } from '../layers/audit/anchors.ts';
import { mergeAudits } from '../layers/audit/merge.ts';
import { MAX_FINDINGS, type VerifyReport, verifyAudit } from '../layers/audit/verify.ts';
import { EXIT_FAILED, UsageError } from './errors.ts';

/** The options of `vitrine audit verify`. */
export interface VerifyFlags {
  readonly head?: string;
  readonly anchor?: string;
  /** Verifies each file as a chain of its own. */
  readonly each?: boolean;
}

/** Prints a line for each finding and a summary, and sets the exit status. */
export async function auditVerify(files: readonly string[], { head, anchor, each }: VerifyFlags): Promise<void> {
  if (each === true) {
    if (head !== undefined || anchor !== undefined)
      throw new UsageError('--head and --anchor belong to one chain; verify that chain without --each');
    for (const file of chainsOf(files)) {
      print(`${file}:`);
      await auditVerify([file], {});
    }
    return;
  }
  if (head !== undefined && !/^[0-9a-f]{64}$/.test(head))
    throw new UsageError('--head takes the 64 hex digits that vitrine audit verify printed');
  const anchors = anchor === undefined ? undefined : await readable(anchor, () => readAnchors(anchor));
  if (anchor !== undefined && anchors?.heads.size === 0)
    throw new UsageError(`No head was noted in ${anchor}; name the file that audit.anchor writes to`);
  const parts = files.length === 1 ? files : withoutLocks(files);
  const [file = ''] = parts;
  const report = await readable(file, () =>
    verifyAudit(parts.length === 1 ? file : parts, { head, anchors: anchors?.heads }),
  );
  const findings = [
    ...report.findings,
    ...(anchors?.problems ?? []).map((problem) => ({ file: anchor ?? '', ...problem })),
  ];
  for (const { file: where, line, problem } of findings) print(`${where}:${line}: ${problem}`);
  for (const { file: where, line, problem } of report.notes) print(`${where}:${line}: note: ${problem}`);
  if (findings.length > 0) process.exitCode = EXIT_FAILED;
  if (report.findings.length === MAX_FINDINGS) print('There may be more; these are the first.');
  print(summary({ ...report, findings }));
}

/** Prints the lines of all chains in the order of their times, each after the name of its file and a tab. */
export async function auditMerge(files: readonly string[]): Promise<void> {
  await readable(files[0] ?? '', async () => {
    for await (const { file, text } of mergeAudits(chainsOf(files)))
      if (!process.stdout.write(`${scrub(file)}\t${scrub(text)}\n`)) await once(process.stdout, 'drain');
  });
}

/** Leaves out locks: a pattern such as `audit*` matches them beside their chain. @throws UsageError if nothing else is named */
function withoutLocks(files: readonly string[]): readonly string[] {
  const others = files.filter((file) => !file.endsWith('.lock'));
  if (others.length > 0) return others;
  throw new UsageError(`${files.join(', ')}: only locks; name the files that audit.file writes to`);
}

/** Leaves out locks and rotated files (`audit.jsonl.1`), which belong to the chain of the current file. @throws UsageError */
const chainsOf = (files: readonly string[]): readonly string[] =>
  withoutLocks(files).filter(
    (file) => !files.some((other) => /^\.[1-9]\d{0,5}$/.test(file.startsWith(other) ? file.slice(other.length) : '')),
  );

/** @throws UsageError for a file that cannot be read */
async function readable<T>(file: string, run: () => Promise<T>): Promise<T> {
  return await run().catch((error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined) throw error;
    throw new UsageError(`The file ${error.path ?? file} cannot be read: ${error.code}`);
  });
}

function summary({ files, lines, first, last, lost, findings }: VerifyReport): string {
  const where = `${count(lines, 'line')} in ${count(files.length, 'file')}`;
  const range = first === undefined || last === undefined ? '' : `, number ${first.seq} to ${last.seq}`;
  const missing = lost === 0 ? '' : `; ${count(lost, 'more line')} could not be written, according to the audit`;
  const end = last === undefined ? '' : `\nhead: ${last.hash}`;
  return `${findings.length === 0 ? 'ok' : 'not as it was written'}  ${where}${range}${missing}${end}`;
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;

const print = (line: string): void => void process.stdout.write(`${scrub(line)}\n`);
