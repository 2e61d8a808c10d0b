/** `vitrine init`: writes a configuration for the contents of a folder. */
import { existsSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { closeMounts, mountsOf, uniqueName } from '../../config/mounts.ts';
import type { Config } from '../../config/schema.ts';
import { createContext, SILENT } from '../../core/context.ts';
import { showUnseen } from '../../core/text/clean-text.ts';
import { UsageError } from '../errors.ts';
import { CONFIG_NAMES } from '../sources.ts';
import type { Terminal } from '../terminal.ts';
import { type Finding, findIn, hostFilesIn } from './find.ts';

export interface InitFlags {
  readonly force?: boolean;
}

const NAME = 'vitrine.yaml';

/** Writes the configuration, and prints its mounts. @throws UsageError if there is no folder, or it has a configuration already */
export async function init(typed: string, flags: InitFlags, { output }: Pick<Terminal, 'output'>): Promise<void> {
  const folder = resolve(typed);
  if (!(await stat(folder).catch(() => undefined))?.isDirectory())
    throw new UsageError(`${typed} is no folder; a configuration is made for one, as in: vitrine init ./docs`);
  const existing = [...CONFIG_NAMES].find((name) => existsSync(join(folder, name)));
  if (existing !== undefined && flags.force !== true)
    throw new UsageError(`There is a ${existing} already; --force writes ${NAME} anew`);
  const taken = new Set<string>();
  const named = (name: string): string => {
    const free = uniqueName(name, undefined, taken);
    taken.add(free);
    return free;
  };
  const name = named(folder);
  const found = (await findIn(folder)).map((finding) => ({ ...finding, name: named(finding.name) }));
  const tried = await Promise.all(
    found.map(async (finding) => ({ ...finding, problem: await problemOf(finding, folder) })),
  );
  const { stringify } = await import('yaml');
  const block = (value: unknown, indent: string): string =>
    stringify(value, { lineWidth: 0 }).replace(/^(?=.)/gm, indent);
  const hosts = await hostFilesIn(folder);
  const text = [
    ...HEAD,
    'server:',
    block({ name }, '  ').trimEnd(),
    `  # Instructions for models, which clients get when they connect:`,
    `  # instructions: ${existsSync(join(folder, 'README.md')) ? `Begin with ${name}+file:///README.md.` : 'List a folder by its URI.'}`,
    '',
    'mounts:',
    '  # All files in this folder, except hidden names, version control and files that look like credentials.',
    block(
      { [name]: { path: '.', exclude: [NAME], ...(existsSync(join(folder, '.gitignore')) && { gitignore: true }) } },
      '  ',
    ).trimEnd(),
    ...tried.flatMap(({ name: mountName, about, mount, problem }) => [
      '',
      `  # ${about[0]?.toUpperCase()}${about.slice(1)}.${problem === undefined ? '' : ` Turned off: ${showUnseen(problem)}`}`,
      block({ [mountName]: mount }, problem === undefined ? '  ' : '  # ').trimEnd(),
    ]),
    ...hosts.flatMap(({ file, names }) => [
      '',
      `# ${showUnseen(names.join(', '))} of ${file}: vitrine serve ${NAME} --mcp-config ${file}`,
    ]),
    ...TAIL,
  ].join('\n');
  await writeFile(join(folder, NAME), text, { flag: flags.force === true ? 'w' : 'wx' });
  const path = join(typed, NAME);
  const rows = [
    `  ${name}: the files in this folder`,
    ...tried.map(
      ({ name: mountName, about, problem }) =>
        `  ${mountName}: ${about}${problem === undefined ? '' : `; left out: ${problem}`}`,
    ),
    ...hosts.map(({ file, names }) => `  ${names.join(', ')} of ${file}: with --mcp-config ${file}`),
  ];
  const next = [`  vitrine check ${path}`, `  vitrine serve ${path} --http`, `  vitrine add claude-code ${path}`];
  output.write(`${showUnseen([`${path} is written, with`, ...rows, '', 'Next:', ...next].join('\n'))}\n`);
}

/**
 * Tells why a finding cannot be served now: a program or package is missing, or the finding is broken. It is then written as a
 * comment, so that the configuration works as it is.
 */
async function problemOf({ name, mount }: Finding, base: string): Promise<string | undefined> {
  try {
    const mounts = await mountsOf({ [name]: mount } as Config['mounts'], { base, log: SILENT });
    try {
      for (const { provider } of mounts) await provider.list(undefined, { limit: 1 }, createContext());
    } finally {
      await closeMounts(mounts);
    }
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ');
  }
}

const HEAD = [
  `# Serve this with \`vitrine serve ${NAME}\`, and check it with \`vitrine check ${NAME}\`. Paths start from this folder.`,
  '# All options: docs/guide/configuration.md.',
  '',
];

const TAIL = [
  '',
  '# More options, with their default values:',
  '# tools: on # for hosts that show models only tools; off if resources are enough',
  '# listing: walk # or roots, for hosts that list folder by folder',
  '# limits:',
  '#   pageSize: 100',
  '#   timeoutSeconds: 30',
  '',
];
