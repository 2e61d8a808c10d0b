/** `vitrine pins`: compares the definitions of mounted servers with the accepted ones, and accepts changes. */
import type { Secrets } from '../config/secrets.ts';
import type { ConfiguredMount, MountedUpstream } from '../config/upstream-mounts.ts';
import { engineOptions } from '../configured/engine-options.ts';
import { createContext } from '../core/context.ts';
import { stripControls } from '../core/text/scrub.ts';
import { createEngine } from '../engine/index.ts';
import type { PinReview } from '../providers/upstream/index.ts';
import { rememberFaults } from './check-upstream.ts';
import { confirmed } from './confirmed.ts';
import { EXIT_FAILED, UsageError } from './errors.ts';
import { differenceOf } from './pins-difference.ts';
import { madeFrom, openSources, type SourceFlags } from './sources.ts';

export interface PinFlags extends SourceFlags {
  /** The mounts to compare. Default: all mounts with pins. */
  readonly mount?: readonly string[];
}

export interface ReviewFlags extends PinFlags {
  /** Accepts all changes without asking. */
  readonly accept?: boolean;
}

type Print = (line: string) => void;

interface Reviewed {
  readonly mount: string;
  readonly review: PinReview;
}

/** Prints the changes and accepts none. Exits with 1 if there is a new or changed definition, or a server is not reached. */
export async function pinsCheck(paths: readonly string[], flags: PinFlags, secrets: Secrets): Promise<void> {
  await withReviews(paths, flags, secrets, async ({ mount, review }, print) => {
    const open = review.changes.filter(({ now }) => now !== undefined);
    const gone = review.changes.length - open.length;
    if (open.length === 0) {
      print(`ok  ${mount}  as accepted${gone === 0 ? '' : `; ${gone} that were accepted are gone`}`);
      return;
    }
    const names = open.map(
      ({ kind, name, before }) => `${before === undefined ? 'new' : 'changed'} ${kind} ${JSON.stringify(name)}`,
    );
    print(`not accepted  ${mount}  ${names.join(', ')}`);
    process.exitCode = EXIT_FAILED;
  });
}

/** Shows the changes of each server, and accepts them if the user agrees. Exits with 1 if changes are left, or a server is not reached. */
export async function pinsReview(paths: readonly string[], flags: ReviewFlags, secrets: Secrets): Promise<void> {
  await withReviews(paths, flags, secrets, async ({ mount, review }, print) => {
    if (review.changes.length === 0) {
      print(`ok  ${mount}  as accepted`);
      return;
    }
    for (const change of review.changes) for (const line of differenceOf(mount, change)) print(line);
    if (flags.accept === true || (await accepted(mount, review))) {
      await review.accept();
      print(
        `accepted  ${mount}  ${review.changes.length} ${review.changes.length === 1 ? 'difference' : 'differences'}`,
      );
      return;
    }
    print(`not accepted  ${mount}  run it again with --accept to accept this without a question`);
    process.exitCode = EXIT_FAILED;
  });
}

async function accepted(mount: string, { changes }: PinReview): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false;
  return confirmed(`Accept ${changes.length} of ${mount}, as shown above?`, process.stdin, process.stdout);
}

/** Connects to the servers one after the other, and hands the review of each to `work`. */
async function withReviews(
  paths: readonly string[],
  flags: PinFlags,
  secrets: Secrets,
  work: (reviewed: Reviewed, print: Print) => Promise<void>,
): Promise<void> {
  const faults = rememberFaults();
  const sources = await openSources(paths, flags, { log: faults.log, secrets });
  const engine = await madeFrom(sources, () => createEngine(engineOptions(sources, false)));
  const print: Print = (line) => void process.stdout.write(`${stripControls(secrets.hide(line))}\n`);
  try {
    for (const mount of pinned(sources.mounts, flags.mount)) {
      const { up, target } = mount.upstream;
      if (up.review === undefined) continue;
      if (!(await up.ready())) {
        print(
          `not reached  ${mount.name}  ${target}: ${faults.of(mount.name) ?? up.health().lastError ?? 'no answer'}`,
        );
        process.exitCode = EXIT_FAILED;
        continue;
      }
      await work({ mount: mount.name, review: await up.review(createContext()) }, print);
    }
  } finally {
    await engine.close();
  }
}

type PinnedMount = ConfiguredMount & { readonly upstream: MountedUpstream };

function pinned(mounts: readonly ConfiguredMount[], wanted: readonly string[] | undefined): readonly PinnedMount[] {
  const all = mounts.filter((mount): mount is PinnedMount => mount.upstream?.up.review !== undefined);
  const unknown = wanted?.find((name) => !all.some((mount) => mount.name === name));
  if (unknown !== undefined) throw new UsageError(`Mount "${unknown}" has no pins; set pins: on in it`);
  if (all.length === 0) throw new UsageError('No mounted server has pins; set pins: on in its mount');
  return wanted === undefined ? all : all.filter(({ name }) => wanted.includes(name));
}
