/** `vitrine check`: reports what would be served, without serving. */

import { type Context, createContext, type Log, SILENT } from '../core/context.ts';
import { publishUri } from '../core/mounts.ts';
import { createVitrine, type Vitrine } from '../vitrine.ts';
import { UsageError } from './errors.ts';
import { engineOptions, openSources, type SourceFlags, type Sources } from './sources.ts';

/** Prints a line for each mount and one for the prompts; throws what `serve` would, and for a prompt that is left out. */
export async function check(paths: readonly string[], flags: SourceFlags): Promise<void> {
  const sources = await openSources(paths, flags);
  const vitrine = createVitrine(engineOptions(sources, undefined));
  try {
    await checkMounts(sources);
    if (vitrine.prompts.size > 0) await checkPrompts(vitrine);
  } finally {
    await vitrine.close();
  }
}

/** A caller whose roots hold everything: what is bounded by them is shown as far as it ever is. */
const everywhere = (log: Log = SILENT): Context => createContext({ log, roots: ['file:///'] });

async function checkMounts({ mounts }: Sources): Promise<void> {
  for (const mount of mounts) {
    const roots = await mount.provider.list(undefined, { limit: 100 }, everywhere());
    for (const root of roots.resources) {
      const page = await mount.provider.list(root.uri, { limit: 1_000 }, everywhere());
      const count = `${page.resources.length}${page.nextCursor === undefined ? '' : '+'} entries`;
      process.stdout.write(`ok  ${mount.name}  ${publishUri(mount, root.uri)}  ${count}\n`);
    }
  }
}

async function checkPrompts({ prompts }: Vitrine): Promise<void> {
  const problems: string[] = [];
  const warn: Log['warn'] = (message, { file, line, prompt, problem } = {}) => {
    const place = line === undefined ? file : `${file}:${line}`;
    problems.push([place ?? prompt, problem ?? message].filter((part) => part !== undefined).join(': '));
  };
  const found = await prompts.list(everywhere({ ...SILENT, warn }));
  const [first] = problems;
  if (first !== undefined) throw new UsageError(`A prompt would be left out: ${first}`);
  process.stdout.write(`ok  prompts  ${found.map(({ name }) => name).join(', ') || 'none'}\n`);
}
