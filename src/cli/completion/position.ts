/** Finds the word to complete at the end of a command line. */
import type { Command, Option } from 'commander';

/** The values that complete a word, or their source. */
export type Source = 'commands' | 'options' | Named | readonly string[];

/** Kinds of arguments, by their names in the commands. */
type Named = 'server' | 'uri' | 'skill' | 'tool' | 'prompt' | 'parameter' | 'host' | 'files' | 'nothing';

export interface Position {
  /** The typed beginning of the word to complete. */
  readonly typed: string;
  readonly source: Source;
  readonly command: Command;
  /** The arguments before that word. */
  readonly args: readonly string[];
  /** The values of options before that word, by long option names without dashes. */
  readonly given: ReadonlyMap<string, readonly string[]>;
}

/** @param words the words after the name of the program; the last one is to be completed, and may be empty */
export function positionOf(program: Command, words: readonly string[]): Position {
  const last = words.at(-1) ?? '';
  const args: string[] = [];
  const given = new Map<string, readonly string[]>();
  const put = (option: Option, value: string) =>
    void given.set(nameOf(option), [...(given.get(nameOf(option)) ?? []), value]);
  let command = program;
  let open: Option | undefined;
  let ended = false;
  for (const word of words.slice(0, -1)) {
    if (open !== undefined && !(open.optional && word.startsWith('-'))) {
      put(open, word);
      open = undefined;
    } else if (!ended && word === '--') ended = true;
    else if (!ended && /^-./.test(word)) {
      const [flag = '', value] = splitFlag(word);
      const option = optionIn(command, flag);
      open = value === undefined ? option : undefined;
      if (option !== undefined && value !== undefined) put(option, value);
    } else {
      const below = args.length === 0 ? command.commands.find((each) => each.name() === word) : undefined;
      // A path in place of a command means `serve`.
      if (below === undefined && command === program) command = commandNamed(program, 'serve') ?? program;
      if (below === undefined) args.push(word);
      else command = below;
    }
  }
  const at = (typed: string, source: Source): Position => ({ typed, source, command, args, given });
  const [flag = '', value] = ended ? [] : splitFlag(last);
  if (value !== undefined) return at(value, sourceOf(optionIn(command, flag)));
  if (open !== undefined && !(open.optional && last.startsWith('-'))) return at(last, sourceOf(open));
  if (!ended && last.startsWith('-')) return at(last, 'options');
  if (command.commands.length > 0 && args.length === 0) return at(last, 'commands');
  const argument = command.registeredArguments[args.length] ?? command.registeredArguments.at(-1);
  const past = args.length >= command.registeredArguments.length && argument?.variadic !== true;
  return at(last, past || argument === undefined ? 'nothing' : (argument.argChoices ?? sourceNamed(argument.name())));
}

const splitFlag = (word: string): readonly string[] => {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at === -1 ? [word] : [word.slice(0, at), word.slice(at + 1)];
};

const nameOf = (option: Option): string => (option.long ?? option.short ?? '').replace(/^-+/, '');

const commandNamed = (program: Command, name: string) => program.commands.find((each) => each.name() === name);

/** Finds an option that takes a value. */
const optionIn = (command: Command, flag: string): Option | undefined =>
  command.options.find(
    ({ short, long, required, optional }) => (short === flag || long === flag) && (required || optional),
  );

function sourceOf(option: Option | undefined): Source {
  if (option === undefined) return 'nothing';
  if (option.long === '--arg') return 'parameter';
  return option.argChoices ?? (/<(?:file|folder)>/.test(option.flags) ? 'files' : 'nothing');
}

function sourceNamed(name: string): Source {
  switch (name) {
    case 'server':
    case 'uri':
    case 'skill':
    case 'tool':
    case 'prompt':
    case 'host':
      return name;
    case 'path':
    case 'file':
    case 'config':
    case 'folder':
      return 'files';
    default:
      return 'nothing';
  }
}
