/** `vitrine check`: reports what would be served, without serving. */
import type { Secrets } from '../config/secrets.ts';
import { answersOf } from '../configured/answers.ts';
import { engineOptions } from '../configured/engine-options.ts';
import { rankedIndexOf } from '../configured/ranked-index.ts';
import { type Context, createContext, type Log, SILENT } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import { installCommand } from '../core/missing-package.ts';
import { publishUri } from '../core/mounts.ts';
import { stripControls } from '../core/text/scrub.ts';
import { createEngine, type Engine } from '../engine/index.ts';
import { missingPackages } from '../layers/alternatives/index.ts';
import { checkUpstream, rememberFaults } from './check-upstream.ts';
import { createOutput } from './client/printing/output.ts';
import { EXIT_FAILED, UsageError } from './errors.ts';
import { madeFrom, openSources, type SourceFlags, type Sources } from './sources.ts';

/**
 * Prints lines about the mounts, skills, ignored keys, prompts, formats and the index. Throws the errors of `serve`, and an error
 * for a prompt that would be left out. An unreachable server gets a line too, and sets the exit status.
 */
export async function check(paths: readonly string[], flags: SourceFlags, secrets: Secrets): Promise<void> {
  const faults = rememberFaults();
  const sources = await openSources(paths, flags, { log: faults.log, secrets });
  const answers = answersOf(sources.config, SILENT, false);
  const engine = await madeFrom(sources, () =>
    createEngine({ ...engineOptions(sources, sources.files.length > 0), answers }),
  );
  const output = createOutput({}, secrets);
  const print = (line: string): void => void process.stdout.write(`${stripControls(secrets.hide(line))}\n`);
  try {
    await checkMounts(sources, faults.of, print, output.progress);
    await checkSkills(engine, sources, print);
    for (const [name, keys] of Object.entries(sources.ignored ?? {}))
      print(`--  ${name}  has unknown keys, which are ignored: ${keys.join(', ')}`);
    if (sources.promptFolders.length > 0) await checkPrompts(engine, print);
    if (sources.config.forms !== 'off') checkForms(print);
    await checkIndex(sources, print);
  } finally {
    output.close();
    await engine.close();
  }
}

type Print = (line: string) => void;

/** Milliseconds before a terminal shows that a server is still starting. */
const LATE_MS = 5_000;

/** A caller whose roots contain everything, so that roots hide nothing. */
const everywhere = (log: Log = SILENT): Context => createContext({ log, roots: ['file:///'] });

async function checkMounts(
  { mounts }: Sources,
  faultOf: (mount: string) => string | undefined,
  print: Print,
  progress: (text?: string) => void,
): Promise<void> {
  // All servers are asked at once, and reported in the order of the mounts.
  const servers = new Map(
    mounts.flatMap(({ name, server, provider, upstream }) =>
      upstream === undefined ? [] : [[name, checkUpstream({ provider, server, upstream })]],
    ),
  );
  for (const mount of mounts) {
    const report = await waitedFor(servers.get(mount.name), () => progress(`${mount.name} is still starting`));
    progress();
    if (report !== undefined) {
      if (report.reached) print(`ok  ${mount.name}  ${report.text}`);
      else {
        print(`not reached  ${mount.name}  ${mount.upstream?.target}: ${faultOf(mount.name) ?? report.text}`);
        process.exitCode = EXIT_FAILED;
      }
      continue;
    }
    const roots = await mount.provider.list(undefined, { limit: 100 }, everywhere());
    if (roots.resources.length === 0) print(`ok  ${mount.name}  0 entries`);
    for (const root of roots.resources) {
      if (root.capabilities?.list !== true) {
        print(`ok  ${mount.name}  ${publishUri(mount, root.uri)}`);
        continue;
      }
      const page = await mount.provider.list(root.uri, { limit: 1_000 }, everywhere());
      const count = `${page.resources.length}${page.nextCursor === undefined ? '' : '+'} entries`;
      print(`ok  ${mount.name}  ${publishUri(mount, root.uri)}  ${count}`);
    }
  }
}

/** Calls `late`, once, if a server takes long. */
async function waitedFor<T>(report: T | Promise<T>, late: () => void): Promise<T> {
  const timer = setTimeout(late, LATE_MS);
  try {
    return await report;
  } finally {
    clearTimeout(timer);
  }
}

/** Reports how many skills are served, and why folders that look like skills are left out. */
async function checkSkills({ skills }: Engine, { mounts }: Sources, print: Print): Promise<void> {
  for (const mount of mounts) {
    const found = await skills.found(mount, everywhere());
    if (found === undefined) continue;
    print(`ok  ${mount.name}  ${found.count} ${found.count === 1 ? 'skill' : 'skills'}`);
    for (const { uri, reason } of found.leftOut) print(`--  ${mount.name}  ${uri} is left out: ${reason}`);
  }
}

/** Reports what the index of ranked search contains and leaves out, as the server stored it. */
async function checkIndex(sources: Sources, print: Print): Promise<void> {
  const index = await rankedIndexOf(sources, SILENT);
  if (index === undefined) return;
  try {
    const found = await index.look();
    if (found === undefined) return print('ok  index  no index is stored yet; vitrine serve makes it while it runs');
    const { resources, passages, bytes, leftOut } = found;
    print(`ok  index  ${resources} resources, ${passages} passages, ${Math.ceil(bytes / 1024 ** 2)} MiB`);
    for (const [reason, count] of Object.entries(leftOut)) print(`--  index  ${count} left out, or in part: ${reason}`);
  } catch (error) {
    if (!(error instanceof ResourceError)) throw error;
    print(`not reached  index  ${error.message}`);
    process.exitCode = EXIT_FAILED;
  }
}

/** Reports formats that need a missing package. That is not an error. */
function checkForms(print: Print): void {
  const packages = missingPackages();
  if (packages.length > 0) print(`--  forms  to offer documents in all formats: ${installCommand(packages)}`);
}

async function checkPrompts({ prompts }: Engine, print: Print): Promise<void> {
  const problems: string[] = [];
  const warn: Log['warn'] = (message, { file, line, prompt, problem } = {}) => {
    const place = line === undefined ? file : `${file}:${line}`;
    problems.push([place ?? prompt, problem ?? message].filter((part) => part !== undefined).join(': '));
  };
  const found = await prompts.ownNames(everywhere({ ...SILENT, warn }));
  const [first] = problems;
  if (first !== undefined) throw new UsageError(`A prompt would be left out: ${first}`);
  print(`ok  prompts  ${found.join(', ') || 'none'}`);
}
