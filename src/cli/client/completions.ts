/** `vitrine completions`: scripts for shells, made from how the commands are declared. */
import type { Argument, Command, Option } from 'commander';
import { UsageError } from '../errors.ts';

/** What completes a value. */
type Source = 'servers' | 'files' | 'nothing' | readonly string[];

interface Completed {
  /** As typed: `ls`, or `audit verify`. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  readonly args: readonly Source[];
  /** The last argument may be repeated. */
  readonly variadic: boolean;
  readonly below: readonly string[];
}

interface CompletedOption {
  /** `-l`. */
  readonly short: string | undefined;
  /** `--long`. */
  readonly long: string;
  readonly description: string;
  /** What its value may be; undefined where it takes none. */
  readonly value: Source | undefined;
}

/** @throws UsageError for a shell that is not known */
export async function completions(shell: string, program: Command): Promise<void> {
  const script = SCRIPTS[shell];
  if (script === undefined) throw new UsageError(`There are completions for ${Object.keys(SCRIPTS).join(', ')}`);
  process.stdout.write(script(completed(program, [])));
}

function completed(command: Command, path: readonly string[]): readonly Completed[] {
  const own: Completed = {
    path,
    summary: command.summary() || command.description(),
    options: [...command.options.map(optionOf), HELP],
    args: command.registeredArguments.map(sourceOfArgument),
    variadic: command.registeredArguments.at(-1)?.variadic === true,
    below: command.commands.map((each) => each.name()),
  };
  return [own, ...command.commands.flatMap((each) => completed(each, [...path, each.name()]))];
}

const HELP: CompletedOption = { short: '-h', long: '--help', description: 'print the help', value: undefined };

function optionOf({ short, long, flags, description, argChoices, required, optional }: Option): CompletedOption {
  const values = argChoices ?? (/<(?:file|folder)>/.test(flags) ? 'files' : 'nothing');
  return { short, long: long ?? short ?? '', description, value: required || optional ? values : undefined };
}

function sourceOfArgument(argument: Argument): Source {
  switch (argument.name()) {
    case 'server':
      return 'servers';
    case 'path':
    case 'file':
    case 'config':
    case 'folder':
      return 'files';
    case 'shell':
      return Object.keys(SCRIPTS);
    default:
      return 'nothing';
  }
}

const SCRIPTS: Readonly<Record<string, (commands: readonly Completed[]) => string>> = { bash, zsh, fish };

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const NAMES = 'vitrine servers --names 2>/dev/null';

function bash(commands: readonly Completed[]): string {
  const cases = commands.map(({ path, options, args, variadic, below }) => {
    const words = [...below, ...options.flatMap(({ short, long }) => [short, long])].filter(
      (word) => word !== undefined,
    );
    const values = options.flatMap(({ short, long, value }) =>
      value === undefined
        ? []
        : [`      ${[short, long].filter((flag) => flag !== undefined).join('|')}) ${bashSource(value)}; return ;;`],
    );
    const positions = args.map((source, index) => {
      const last = variadic && index === args.length - 1;
      return `      ${last ? '*' : index}) ${bashSource(source)} ;;`;
    });
    return [
      `  ${quote(path.join(' '))})`,
      '    case $prev in',
      ...values,
      '    esac',
      `    if [[ $cur == -* || ${below.length > 0 ? '1' : '0'} == 1 ]]; then`,
      `      __vitrine_words ${words.join(' ')}`,
      '      return',
      '    fi',
      '    case $position in',
      ...positions,
      '    esac',
      '    ;;',
    ].join('\n');
  });
  const groups = commands.filter(({ below, path }) => below.length > 0 && path.length > 0).map(({ path }) => path[0]);
  return `# Completes vitrine in bash: source <(vitrine completions bash)

__vitrine_words() {
  local word
  for word in "$@"; do
    [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
  done
}

__vitrine_servers() {
  local name
  while IFS= read -r name; do
    [[ $name == "$cur"* ]] && COMPREPLY+=("$(printf %q "$name")")
  done < <(${NAMES})
  __vitrine_files
}

__vitrine_files() {
  local name
  compopt -o filenames 2>/dev/null
  while IFS= read -r name; do
    COMPREPLY+=("$name")
  done < <(compgen -f -- "$cur")
}

_vitrine() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]}
  local command='' position=0 first=1 at
  COMPREPLY=()
  if ((COMP_CWORD > 1)); then
    command=\${COMP_WORDS[1]}
    first=2
    case $command in
      ${groups.join('|')}) if ((COMP_CWORD > 2)); then command="$command \${COMP_WORDS[2]}"; first=3; fi ;;
    esac
  fi
  for ((at = first; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in
      ${valueFlags(commands).join('|')}) ((at++)) ;;
      -*) ;;
      *) ((position++)) ;;
    esac
  done
  case $command in
${cases.join('\n')}
  esac
}

complete -F _vitrine vitrine
`;
}

/** All flags that take a value, in any command: none of them is a mere switch in another one. */
const valueFlags = (commands: readonly Completed[]): readonly string[] => [
  ...new Set(
    commands.flatMap(({ options }) =>
      options.flatMap(({ short, long, value }) =>
        value === undefined ? [] : [short, long].filter((flag) => flag !== undefined),
      ),
    ),
  ),
];

function bashSource(source: Source): string {
  if (source === 'servers') return '__vitrine_servers';
  if (source === 'files') return '__vitrine_files';
  return source === 'nothing' ? ':' : `__vitrine_words ${source.join(' ')}`;
}

function zsh(commands: readonly Completed[]): string {
  const [root, ...all] = commands;
  const told = (path: readonly string[]): string => {
    const children = commands.filter((each) => each.path.length === path.length + 1 && isBelow(each.path, path));
    return children.map(({ path: own, summary }) => quote(`${own.at(-1)}:${summary}`)).join(' ');
  };
  const spec = ({ path, options, args, variadic, below }: Completed): string => {
    const name = path.join(' ');
    const flags = options.flatMap(({ short, long, description, value }) => {
      const about = `[${description.replace(/[[\]\\:]/g, '\\$&')}]`;
      const takes = value === undefined ? '' : `:value:${zshSource(value)}`;
      return [short, long].filter((flag) => flag !== undefined).map((flag) => quote(`*${flag}${about}${takes}`));
    });
    const rest = args.map((source, index) => {
      const place = variadic && index === args.length - 1 ? '*' : String(index + 1);
      return quote(`${place}:argument:${zshSource(source)}`);
    });
    const inner =
      below.length === 0 ? [] : [`'1:command:((${told(path).replaceAll("'", '"').replaceAll(':', '\\:')}))'`];
    return `    ${quote(name)}) _arguments ${[...flags, ...rest, ...inner].join(' \\\n        ')} ;;`;
  };
  return `#compdef vitrine
# Completes vitrine in zsh: vitrine completions zsh > "\${fpath[1]}/_vitrine"

_vitrine_servers() {
  local -a names
  names=("\${(@f)$(${NAMES})}")
  (( \${#names} )) && compadd -a names
  _files
}

_vitrine() {
  local -a commands
  commands=(${told([])})
  if (( CURRENT == 2 )); then
    if [[ \${words[2]} == -* ]]; then
      compadd -- ${(root?.options ?? []).map(({ long }) => long).join(' ')}
    else
      _describe command commands
    fi
    return
  fi
  shift words
  (( CURRENT-- ))
  local command=\${words[1]}
  case $command in
    ${groupsOf(all).join('|')}) if (( CURRENT > 2 )); then shift words; (( CURRENT-- )); command="$command \${words[1]}"; fi ;;
  esac
  case $command in
${all.map(spec).join('\n')}
  esac
}

if [[ \${funcstack[1]} == _vitrine ]]; then _vitrine "$@"; else compdef _vitrine vitrine; fi
`;
}

const isBelow = (path: readonly string[], of: readonly string[]): boolean => of.every((word, at) => path[at] === word);

const groupsOf = (commands: readonly Completed[]): readonly string[] =>
  commands.filter(({ below }) => below.length > 0).map(({ path }) => path.join(' '));

function zshSource(source: Source): string {
  if (source === 'servers') return '_vitrine_servers';
  if (source === 'files') return '_files';
  return source === 'nothing' ? ' ' : `(${source.join(' ')})`;
}

function fish(commands: readonly Completed[]): string {
  const lines = commands.flatMap(({ path, summary, options, args }) => {
    const [first, second] = path;
    const condition =
      first === undefined
        ? '__fish_use_subcommand'
        : `__fish_seen_subcommand_from ${first}${second === undefined ? '' : `; and __fish_seen_subcommand_from ${second}`}`;
    const before = second === undefined ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${first}`;
    const name = path.at(-1);
    const own = name === undefined ? [] : [`complete -c vitrine -n ${quote(before)} -a ${name} -d ${quote(summary)}`];
    const flags = options.map(({ short, long, description, value }) => {
      const letter = short === undefined ? '' : ` -s ${short.slice(1)}`;
      return `complete -c vitrine -n ${quote(condition)}${letter} -l ${long.slice(2)} -d ${quote(description)}${fishValue(value)}`;
    });
    const rest = args.flatMap((source) =>
      source === 'nothing'
        ? []
        : source === 'servers'
          ? [`complete -c vitrine -n ${quote(condition)} -F -a ${quote(`(${NAMES})`)}`]
          : source === 'files'
            ? [`complete -c vitrine -n ${quote(condition)} -F`]
            : [`complete -c vitrine -n ${quote(condition)} -a ${quote(source.join(' '))}`],
    );
    return [...own, ...flags, ...rest];
  });
  return `# Completes vitrine in fish: vitrine completions fish | source
complete -c vitrine -f
${lines.join('\n')}
`;
}

function fishValue(value: Source | undefined): string {
  if (value === undefined) return '';
  if (value === 'files' || value === 'servers') return ' -r -F';
  return value === 'nothing' ? ' -x' : ` -x -a ${quote(value.join(' '))}`;
}
