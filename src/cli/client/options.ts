/** Options that the commands for any server share. */
import { type Command, Option } from 'commander';

export const collect = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];

export const SERVER_ARGUMENT =
  "a URL, a command in quotes, a folder or file to serve, a vitrine.yaml, or the name of a server in a host's configuration";

/** Adds `--json` and the like. */
export function outputOptions(command: Command): Command {
  return command
    .option('--json', 'print one JSON array or document')
    .option('--jsonl', 'print one JSON value a line')
    .addOption(new Option('--color <when>', 'colour').choices(['auto', 'always', 'never']).default('auto'));
}

/** Adds the options for connecting to the server and for the output. */
export const serverOptions = (command: Command): Command =>
  targetOptions(outputOptions(command)).option(
    '--root <folder>',
    'let the server know of this folder (may be repeated)',
    collect,
  );

/** Adds the options for connecting to the server. */
export function targetOptions(command: Command): Command {
  return command
    .option('--mcp-config <file>', 'look for the name in this file, not where hosts keep theirs')
    .option('--header <line>', "send 'Name: value' with each request (may be repeated)", collect)
    .option('--bearer <token>', 'send this token; best as a reference to the environment')
    .option('--env <pair>', 'give NAME=value to the program (may be repeated)', collect)
    .option(
      '--timeout <seconds>',
      'for connecting, and for each answer (default: 60; 300 until the first one of a program)',
    )
    .option('--server-log', 'pass on what the program writes to standard error');
}
