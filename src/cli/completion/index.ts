/** `vitrine complete`, which the scripts of shells call: prints the words that can complete a command line. */
import type { Command } from 'commander';
import type { Secrets } from '../../config/secrets.ts';
import { stripUnseen } from '../../core/text/clean-text.ts';
import { hostIds } from '../client/reaching/host-places.ts';
import { knownServers, thisMachine } from '../client/reaching/known-servers.ts';
import type { Terminal } from '../terminal.ts';
import { type Offer, plain } from './offer.ts';
import { type Position, positionOf } from './position.ts';

// Flags of the last line, as the scripts of the shells read them.
const NO_SPACE = 2;
const NO_FILES = 4;

/** The most values of one answer that are printed. */
const MAX_OFFERED = 1_000;

/** Prints one value a line, with a tab and a description, and at last `:` and the sum of the flags. */
export async function complete(
  program: Command,
  words: readonly string[],
  secrets: Secrets,
  { output }: Pick<Terminal, 'output'>,
): Promise<void> {
  const position = positionOf(program, words.map(unquoted));
  const { values, files = false, open = false } = await offerFor(program, position, secrets);
  const lines = values
    .filter(({ value }) => value.startsWith(position.typed))
    .slice(0, MAX_OFFERED)
    .map(({ value, about }) => (about === undefined ? value : `${value}\t${stripUnseen(about).replace(/\s+/g, ' ')}`));
  output.write(`${[...lines, `:${(open ? NO_SPACE : 0) + (files ? 0 : NO_FILES)}`].join('\n')}\n`);
}

async function offerFor(program: Command, position: Position, secrets: Secrets): Promise<Offer> {
  const { source, command } = position;
  const help = command.createHelp();
  switch (source) {
    case 'commands':
      return {
        values: help
          .visibleCommands(command)
          .map((subcommand) => ({ value: subcommand.name(), about: help.subcommandDescription(subcommand) })),
        files: command === program,
      };
    case 'options':
      return {
        values: help
          .visibleOptions(command)
          .flatMap(({ short, long, description }) =>
            [long, short].flatMap((value) => (value === undefined ? [] : [{ value, about: description }])),
          ),
      };
    case 'host':
      return { values: hostIds(thisMachine()).map((value) => ({ value })) };
    case 'server': {
      const servers = await knownServers(position.given.get('mcp-config')?.[0]).catch(() => []);
      const names = [...new Set(servers.map(({ name }) => name))];
      return { values: plain(names), files: true };
    }
    case 'files':
      return { values: [], files: true };
    case 'nothing':
      return { values: [] };
    case 'uri':
    case 'skill':
    case 'tool':
    case 'prompt':
    case 'parameter': {
      const { offerOfServer } = await import('./remote.ts');
      return offerOfServer(source, position, secrets);
    }
    default:
      return { values: source.map((value) => ({ value })) };
  }
}

/** Removes quotes and escapes: bash and zsh hand over words as they are typed. On Windows a backslash is no escape. */
function unquoted(word: string): string {
  const parts = process.platform === 'win32' ? /'([^']*)'?|"([^"]*)"?/g : /'([^']*)'?|"((?:[^"\\]|\\.)*)"?|\\(.)/g;
  return word.replace(
    parts,
    (_all, single?: string, double?: string, escaped?: string) =>
      single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? '',
  );
}
