/** `vitrine add` and `vitrine remove`: add Vitrine to the configuration of a host, or remove it, after showing the change. */

import { existsSync } from 'node:fs';
import { distance } from 'fastest-levenshtein';
import type { Secrets } from '../../config/secrets.ts';
import { showUnseen } from '../../core/text/clean-text.ts';
import { isData } from '../../protocol/data.ts';
import { hideValues } from '../client/reaching/host-block.ts';
import { type HostPlace, hostIds, hostPlaces, type Machine } from '../client/reaching/host-places.ts';
import { thisMachine } from '../client/reaching/known-servers.ts';
import { confirmed } from '../confirmed.ts';
import { compared } from '../difference.ts';
import { CommandFailure, EXIT_FAILED, UsageError } from '../errors.ts';
import { startCommand } from '../hosts.ts';
import { namedSources, type SourceFlags } from '../sources.ts';
import type { Terminal } from '../terminal.ts';
import { type Edited, edited } from './edit.ts';
import { type Entry, entryOf, installLink, type Reached } from './entry.ts';
import { readHostFile, replaceHostFile } from './file.ts';

/** The options of `add` and `remove`. */
export interface ChangeFlags {
  readonly name: string;
  readonly scope?: HostPlace['scope'];
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/** The options of `add`. */
export interface AddFlags extends ChangeFlags, SourceFlags {
  readonly url?: string;
  readonly link?: boolean;
}

/** The secrets, the terminal and the environment that a change uses. */
export interface Changing {
  readonly secrets: Secrets;
  readonly terminal: Pick<Terminal, 'input' | 'output' | 'errors'>;
  /** Default: the machine of this process. */
  readonly machine?: Machine;
}

/**
 * Adds an entry for Vitrine to a host.
 * @throws UsageError, ConfigError
 * @throws CommandFailure if the user does not confirm the change
 */
export async function addToHost(
  typed: string,
  paths: readonly string[],
  flags: AddFlags,
  changing: Changing,
): Promise<void> {
  const { machine = thisMachine(), secrets, terminal } = changing;
  const { host, places } = hostNamed(typed, flags, machine);
  const reached = await reachedBy(paths, flags, secrets, machine.platform);
  if (flags.link === true) {
    const link = installLink(host, flags.name, reached);
    if (link === undefined)
      throw new UsageError(`${host} has no links that install this; run it without --link to write the configuration`);
    terminal.output.write(`${link}\n`);
    return;
  }
  const value = entryOf(host, flags.name, reached);
  if (value === undefined)
    throw new UsageError(`${host} cannot use a server of this machine over HTTP; name what to serve instead of --url`);
  const { scope = 'user' } = flags;
  const inScope = places.filter((place) => place.scope === scope);
  const place = inScope.find(({ file }) => existsSync(file)) ?? inScope[0];
  if (place === undefined)
    throw new UsageError(`${host} has one configuration only; say --scope ${scope === 'user' ? 'project' : 'user'}`);
  if (!(await change(place, value, flags, changing)))
    terminal.output.write(`${host} has this already as "${flags.name}", in ${place.file}\n`);
}

/** Removes the entry from every file of a host, or only from files of a scope. @throws as `addToHost` does */
export async function removeFromHost(typed: string, flags: ChangeFlags, changing: Changing): Promise<void> {
  const { host, places } = hostNamed(typed, flags, changing.machine ?? thisMachine());
  let found = false;
  for (const place of places) {
    if (flags.scope !== undefined && place.scope !== flags.scope) continue;
    if (await change(place, undefined, flags, changing)) found = true;
  }
  if (!found) changing.terminal.output.write(`${host} has no "${flags.name}"; nothing was changed\n`);
}

/** Names that every host accepts, and that are no special keys such as `__proto__`. */
const NAME = /^[A-Za-z0-9][\w-]{0,63}$/;

/** The most wrong letters in the name of a host for which a suggestion is made. */
const MAX_DISTANCE = 2;

/** Finds a host and its files. @param typed its name, with any case, spaces and hyphens @throws UsageError for any other name */
function hostNamed(typed: string, { name }: ChangeFlags, machine: Machine) {
  if (!NAME.test(name)) throw new UsageError('A name has letters, digits, - and _, up to 64 of them');
  const places = hostPlaces(machine).filter(({ section }) => section.length === 1);
  const ofHost = places.filter(({ host }) => bare(host) === bare(typed));
  const [first] = ofHost;
  if (first !== undefined) return { host: first.host, places: ofHost };
  const ids = hostIds(machine);
  const near = ids.find((id) => distance(bare(id), bare(typed)) <= MAX_DISTANCE);
  throw new UsageError(
    `There is no host "${typed}" here; ${near === undefined ? `there are ${ids.join(', ')}` : `did you mean ${near}?`}`,
  );
}

const bare = (host: string): string => host.toLowerCase().replace(/[^a-z]/g, '');

/** Returns the command that the host starts, or the address that it connects to. @throws UsageError, ConfigError */
async function reachedBy(
  typed: readonly string[],
  flags: AddFlags,
  secrets: Secrets,
  platform: NodeJS.Platform,
): Promise<Reached> {
  const { url } = flags;
  if (url !== undefined) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new UsageError('--url is the address of a Vitrine that serves over HTTP, as in http://127.0.0.1:8931/mcp');
    if (typed.length > 0 || flags.config !== undefined || flags.mcpConfig !== undefined)
      throw new UsageError('Say either what to serve, or with --url where it is served already');
    return { url };
  }
  const { file, paths, mcpConfig, args } = await namedSources(typed, flags, secrets);
  if (file !== undefined || mcpConfig !== undefined) {
    const { loadConfig, loadHostFile } = await import('../../config/load.ts');
    if (file !== undefined) await loadConfig(file, { secrets });
    if (mcpConfig !== undefined) await loadHostFile(mcpConfig, { secrets });
  }
  for (const path of paths) {
    if (secrets.hide(path) !== path)
      throw new UsageError('A path or URL to serve contains a password; put it into a configuration, and serve that');
    if (!/^[a-z][a-z0-9+.-]+:/i.test(path) && !existsSync(path))
      throw new UsageError(`There is nothing at ${path}; see vitrine add --help`);
  }
  const [command, ...words] = startCommand(process.argv[1], platform);
  return { command, args: [...words, 'serve', ...args] };
}

/**
 * Shows the change, asks the user, and writes it.
 * @param value the new entry; undefined removes it
 * @returns false if the file needs no change
 */
async function change(
  { host, file, section }: HostPlace,
  value: Entry | undefined,
  { name, yes, dryRun }: ChangeFlags,
  { secrets, terminal }: Changing,
): Promise<boolean> {
  const original = await readHostFile(file);
  const changed = await edited(file, original.text, { path: [...section, name], value });
  if (changed.text === original.text) return false;
  const head =
    changed.before === undefined
      ? `${host}, ${file}${original.mode === undefined ? ', a new file' : ''}:`
      : `${host}, ${file}, where "${name}" is ${value === undefined ? 'taken out' : 'there already, and replaced'}:`;
  hideSecrets(changed.content, secrets);
  const lines = differenceOf(original.text, changed, value).map((line) => `  ${secrets.hide(showUnseen(line))}`);
  terminal.output.write(`${[head, '', ...lines, ''].join('\n')}\n`);
  if (dryRun === true) return true;
  if (yes !== true) {
    if (terminal.input.isTTY !== true)
      throw new UsageError('Nothing was written: there is no terminal to ask at. Say --yes to write this');
    if (!(await confirmed('Write this?', terminal.input, terminal.errors)))
      throw new CommandFailure('Nothing was written', EXIT_FAILED);
  }
  await replaceHostFile(file, original, changed.text);
  terminal.output.write(`Written. ${host} reads it when it is started anew.\n`);
  return true;
}

function differenceOf(original: string, { text, before }: Edited, value: Entry | undefined): readonly string[] {
  // If the whole file is one line, the difference would show all of it, so only the entry is shown.
  const inOneLine = [original, text].some((content) => /^[^\n]+$/.test(content.trim()));
  const [from, to] = inOneLine ? [pretty(before), pretty(value)] : [original, text];
  return compared(linesOf(from), linesOf(to));
}

const pretty = (entry: unknown): string => (entry === undefined ? '' : JSON.stringify(entry, undefined, 2));

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/));

/** Hides the environments and headers of all entries, because the difference may show lines of other entries. */
function hideSecrets(content: unknown, secrets: Secrets, depth = 0): void {
  if (!isData(content) || depth > MAX_DEPTH) return;
  for (const [key, value] of Object.entries(content)) {
    if (/^env|headers$/i.test(key)) hideValues(value, secrets);
    else hideSecrets(value, secrets, depth + 1);
  }
}

/** The most levels that are searched for secrets. */
const MAX_DEPTH = 16;
