/** `vitrine get`: writes resources to a folder. */
import { type GetEntry, type GetOptions, type GetReport, getResources } from '../../client/node/index.ts';
import type { WalkStop } from '../../client/walk.ts';
import type { Secrets } from '../../config/secrets.ts';
import { EXIT_INCOMPLETE, EXIT_OK } from './exit-codes.ts';
import { wantedLimits } from './ls.ts';
import { bytesOf, countOf } from './printing/numbers.ts';
import { jsonText, type Output, safe } from './printing/output.ts';
import { createPace } from './printing/pace.ts';
import { sizeText } from './printing/rows.ts';
import { onServer, type ServerFlags } from './reaching/connect.ts';
import { urisOf } from './references.ts';
import { WORDS } from './stops.ts';

export interface GetFlags extends ServerFlags {
  readonly to: string;
  readonly accept?: string;
  readonly concurrency?: string;
  readonly maxBytes?: string;
  readonly maxTotalBytes?: string;
  readonly maxResources?: string;
  readonly maxDepth?: string;
  readonly force?: boolean;
  readonly fresh?: boolean;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly dryRun?: boolean;
  readonly keepName?: readonly string[];
  readonly verbose?: boolean;
}

const DEFAULT_CONCURRENCY = 4;
const MAX_CONCURRENCY = 64;
const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;
const DEFAULT_MAX_TOTAL_BYTES = 8 * 1024 * 1024 * 1024;
const DEFAULT_MAX_RESOURCES = 100_000;
const DEFAULT_MAX_DEPTH = 32;

/** Milliseconds between two reports of the progress. */
const PROGRESS_MS = 100;

/** Writes resources to a folder, and prints what was done. Exits with `EXIT_INCOMPLETE` if something is missing. */
export async function get(
  server: string,
  references: readonly string[],
  flags: GetFlags,
  secrets: Secrets,
): Promise<void> {
  const options = optionsOf(flags);
  return await onServer(server, flags, secrets, async (session) => {
    const { resources, output, signal } = session;
    const uris = await urisOf(references, session);
    const entries: GetEntry[] = [];
    let printed: Promise<void> = Promise.resolve();
    let last = 0;
    const pace = createPace();
    const report = await getResources(resources, uris.length === 0 ? undefined : uris, flags.to, {
      ...options,
      signal,
      onEntry(entry) {
        if (output.form === 'json') entries.push(entry);
        else {
          printed = printed.then(() => printEntry(entry, flags, output));
          // When the reader of the output is gone, the signal ends the work.
          printed.catch(() => {});
        }
      },
      onProgress(progress) {
        if (performance.now() - last < PROGRESS_MS) return;
        last = performance.now();
        output.progress(pace(progress));
      },
    });
    output.progress();
    await printed;
    if (output.form === 'jsonl') await output.line(jsonText({ report }));
    else await output.document({ ...report, resources: entries }, () => summaryOf(report, flags.dryRun === true));
    return statusOf(report, flags, output);
  });
}

/** Converts the options of the command line. @throws UsageError for a value that is no number, or out of its range */
function optionsOf(flags: GetFlags): GetOptions {
  return {
    concurrency: countOf(flags.concurrency, '--concurrency', DEFAULT_CONCURRENCY, 1, MAX_CONCURRENCY),
    maxBytes: bytesOf(flags.maxBytes, '--max-bytes', DEFAULT_MAX_BYTES),
    maxTotalBytes: bytesOf(flags.maxTotalBytes, '--max-total-bytes', DEFAULT_MAX_TOTAL_BYTES),
    maxResources: countOf(flags.maxResources, '--max-resources', DEFAULT_MAX_RESOURCES),
    maxDepth: countOf(flags.maxDepth, '--max-depth', DEFAULT_MAX_DEPTH),
    accept: flags.accept,
    force: flags.force,
    fresh: flags.fresh,
    include: flags.include,
    exclude: flags.exclude,
    dryRun: flags.dryRun,
    keepNames: flags.keepName,
  };
}

async function printEntry(
  entry: GetEntry,
  { verbose = false, dryRun = false }: GetFlags,
  output: Output,
): Promise<void> {
  if (output.form === 'jsonl') return output.line(jsonText(entry));
  const { uri, status, path, size, reason } = entry;
  if (status === 'failed') output.note(`${uri}: ${reason}`);
  else if (verbose || (dryRun && status === 'planned')) {
    await output.line(`${status.padEnd(9)}  ${sizeText(size).padStart(5)}  ${safe(path ?? `${uri}: ${reason}`)}`);
  }
}

const summaryOf = ({ written, unchanged, planned, failed, bytes, gone, folder }: GetReport, dry: boolean): string => {
  const counts = [
    dry ? `${planned} to be read` : `${written} written`,
    `${unchanged} unchanged`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(dry ? [] : [`${sizeText(bytes)} read`]),
    ...(gone.length > 0 ? [`${gone.length} no longer there`] : []),
  ];
  return `${counts.join(', ')}: ${safe(folder)}`;
};

/** Notes the limits that were reached, and returns the exit status. Reaching a limit that the user typed is no failure. */
function statusOf({ stopped, overTotal, failed }: GetReport, flags: GetFlags, output: Output): number {
  const wanted = wantedLimits(flags);
  const reasons = (Object.entries(stopped) as [WalkStop['reason'], number][]).filter(
    ([reason]) => reason !== 'visited' && !wanted.has(reason),
  );
  for (const [reason, count] of reasons) output.note(`${WORDS[reason]}: ${count}`);
  if (overTotal) output.note('stopped at --max-total-bytes');
  const cut = overTotal && flags.maxTotalBytes === undefined;
  return failed > 0 || cut || reasons.length > 0 ? EXIT_INCOMPLETE : EXIT_OK;
}
