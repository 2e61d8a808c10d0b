/** The commands, their options and their help. */
import { Command, CommanderError, Option } from 'commander';
import { VERSION } from '../vitrine.ts';
import { check } from './check.ts';
import { UsageError } from './errors.ts';
import { LOG_LEVELS } from './log.ts';
import { type ServeFlags, serve } from './serve.ts';
import type { SourceFlags } from './sources.ts';

const collect = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];

export function createProgram(): Command {
  const program = new Command('vitrine')
    .description('Puts folders behind glass: MCP resources that any host can browse, read and watch.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureOutput({ outputError: () => {} });

  program
    .command('serve')
    .summary('serve folders and files to an MCP host')
    .description(
      'Serves folders and files as MCP resources: over standard input and output to the host that starts it, or over HTTP.',
    )
    .argument('[path...]', 'a folder, a file, or a vitrine.yaml')
    .option('--http [address]', 'serve over HTTP at [host:]port (default: 127.0.0.1:8931), endpoint /mcp')
    .option('--name <name>', 'how the server is called in the host')
    .option('--config <file>', 'serve what a configuration file says')
    .option('--hidden', 'show names that begin with a dot')
    .option('--gitignore', 'leave out what .gitignore files leave out')
    .option('--allow-remote', 'let --http listen where other machines reach it, without authorization')
    .option('--allow-host <name>', 'answer to this host name too (may be repeated)', collect)
    .option('--allow-origin <origin>', 'let pages of this origin connect (may be repeated)', collect)
    .addOption(new Option('--log-level <level>', 'what goes to standard error').choices(LOG_LEVELS).default('warn'))
    .addHelpText('after', EXAMPLES)
    .action((paths: string[], flags: ServeFlags) => serve(paths, flags));

  program
    .command('check')
    .summary('say what would be served, without serving')
    .description(
      'Reads the configuration and opens what it names. Exits with 0 when all is well, with 2 and one line when not.',
    )
    .argument('[path...]', 'a folder, a file, or a vitrine.yaml')
    .option('--config <file>', 'check a configuration file')
    .option('--hidden', 'show names that begin with a dot')
    .option('--gitignore', 'leave out what .gitignore files leave out')
    .action((paths: string[], flags: SourceFlags) => check(paths, flags));

  for (const command of program.commands) command.exitOverride().configureOutput({ outputError: () => {} });
  return program;
}

const EXAMPLES = `
Examples:
  vitrine serve ./docs                     a folder, to the host that starts this command
  vitrine serve ./docs --http 8931         the same at http://127.0.0.1:8931/mcp
  vitrine serve ./docs ./data --name team  two folders, as docs+file:///... and data+file:///...
  vitrine serve --config vitrine.yaml      what the file says; see docs/guide/configuration.md
`;

/** @throws UsageError for what commander refuses; help and version print and return */
export async function runProgram(args: readonly string[]): Promise<void> {
  const program = createProgram();
  if (args.length === 0) {
    program.outputHelp();
    return;
  }
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return;
    const line = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
    throw new UsageError(`${line}; see vitrine --help`);
  }
}
