/** The commands, their options and their help. */

import { existsSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import type { Secrets } from '../config/secrets.ts';
import { VERSION } from '../core/version.ts';
import type { VerifyFlags } from './audit.ts';
import { collect } from './client/options.ts';
import { addClientCommands } from './client/program.ts';
import { UsageError } from './errors.ts';
import type { ExplainFlags } from './explain.ts';
import { addHostCommands } from './hosts/program.ts';
import type { InitFlags } from './init/index.ts';
import { LOG_LEVELS } from './log-levels.ts';
import type { PinFlags, ReviewFlags } from './pins.ts';
import type { ServeFlags } from './serve.ts';
import type { SourceFlags } from './sources.ts';
import type { Terminal } from './terminal.ts';

/** @param short returns, when the command runs, whether `serve` was left out on the command line */
export function createProgram(secrets: Secrets, terminal: Terminal, short: () => boolean): Command {
  const program = new Command('vitrine')
    .description('Puts folders and MCP servers behind glass: resources that any host can browse, read and watch.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureOutput({ outputError: () => {} });

  program
    .command('serve')
    .summary('serve folders, files and other MCP servers to an MCP host')
    .description(
      'Serves folders and files as MCP resources, and other MCP servers with their tools and prompts: over standard ' +
        'input and output to the host that starts it, or over HTTP.',
    )
    .argument('[path...]', 'a folder, a file, the URL of an MCP server, or a vitrine.yaml')
    .option('--http [address]', 'serve over HTTP at [host:]port (default: 127.0.0.1:8931), endpoint /mcp')
    .option('--port <port>', 'serve over HTTP at this port of this machine')
    .option('--workers <count>', 'serve with this many processes behind one port, or auto: one for each processor')
    .option('--multiply', 'let each worker start its own programs, such as mounted servers')
    .option('--name <name>', 'the name of the server in the host')
    .addOption(
      new Option(
        '--tools <which>',
        'tools that reach the resources: all, those that only read, or none (default: all)',
      ).choices(['all', 'read', 'off']),
    )
    .addOption(
      new Option('--icons <where>', 'default icons: in lists too, or nowhere (default: outside lists)').choices([
        'on',
        'off',
      ]),
    )
    .addOption(
      new Option('--explorer <which>', 'pages for people at the root of the HTTP server (default: on)').choices([
        'on',
        'off',
      ]),
    )
    .option('--config <file>', 'serve the mounts of a configuration file')
    .option('--mcp-config <file>', 'serve the servers of a file with mcpServers, as hosts have it')
    .option('--hidden', 'show names that begin with a dot')
    .option('--gitignore', 'leave out what .gitignore files leave out')
    .option('--nested', 'go into zip and tar archives, SQLite files and git repositories like folders')
    .option('--as-document', 'serve YAML and JSON files themselves, also those with mounts or servers in them')
    .option('--allow-remote', 'let --http listen to other machines without authorization')
    .option('--allow-host <name>', 'accept this host name too (may be repeated)', collect)
    .option('--allow-origin <origin>', 'let pages of this origin connect (may be repeated)', collect)
    .option('--tls-cert <file>', 'serve HTTPS with this certificate, in PEM')
    .option('--tls-key <file>', 'the private key of the certificate, in PEM')
    .addOption(new Option('--log-level <level>', 'the log on standard error').choices(LOG_LEVELS).default('warn'))
    .addHelpText('after', EXAMPLES)
    .action(async (paths: string[], flags: ServeFlags) => {
      // Each command is loaded when it runs: an inspecting command needs no code for serving.
      const { serve } = await import('./serve.ts');
      await serve(paths, flags, secrets, terminal, short());
    });

  program
    .command('check')
    .summary('check what would be served, without serving')
    .description(
      'Reads the configuration, opens its mounts, and connects to its servers. Exits with 0 when all is well, ' +
        'with 1 when a server cannot be reached, and with 2 and one line when the configuration is wrong.',
    )
    .argument('[path...]', 'a folder, a file, the URL of an MCP server, or a vitrine.yaml')
    .option('--config <file>', 'check a configuration file')
    .option('--mcp-config <file>', 'check a file with mcpServers, as hosts have it')
    .option('--hidden', 'show names that begin with a dot')
    .option('--gitignore', 'leave out what .gitignore files leave out')
    .option('--nested', 'go into zip and tar archives, SQLite files and git repositories like folders')
    .option('--as-document', 'serve YAML and JSON files themselves, also those with mounts or servers in them')
    .action(async (paths: string[], flags: SourceFlags) => {
      const { check } = await import('./check.ts');
      await check(paths, flags, secrets);
    });

  program
    .command('init')
    .summary('write a configuration for a folder and its content')
    .description(
      'Writes a vitrine.yaml with comments: the files of the folder, its history in git, databases and descriptions of APIs. ' +
        'Sources that cannot be served now are comments, with the reason.',
    )
    .argument('[folder]', 'the folder', '.')
    .option('--force', 'replace an existing configuration')
    .action(async (folder: string, flags: InitFlags) => {
      const { init } = await import('./init/index.ts');
      await init(folder, flags, terminal);
    });

  program
    .command('authorize')
    .summary('authorize Vitrine at a server that requires OAuth')
    .description(
      'Prints an address to open in a browser on this machine, waits up to five minutes until you have signed in, and ' +
        'saves the tokens for vitrine serve.',
    )
    .argument('<config>', 'a vitrine.yaml, or a file with mcpServers')
    .argument('<mount>', 'the mount, with auth: { type: oauth }')
    .action(async (config: string, mount: string) => {
      // Loaded on demand, since it loads the protocol's client.
      const { authorize } = await import('./authorize.ts');
      await authorize(config, mount, secrets);
    });

  program
    .command('explain')
    .summary('explain what a principal may do with a resource or tool')
    .description(
      'Prints what the access rules of a configuration decide, operation by operation, and the rule that decides. ' +
        'Nothing is served. Requirements of tokens, which are in auth, are not checked.',
    )
    .argument('[uri]', 'a resource, by its URI, or a URI template')
    .requiredOption('--as <principal>', 'a subject, anonymous, or token:<name> of auth.tokens')
    .option('--config <file>', 'the configuration (default: vitrine.yaml)')
    .option('--group <name>', 'a group that the principal is in (may be repeated)', collect)
    .option('--scope <name>', 'a scope of its token (may be repeated)', collect)
    .option('--client <id>', 'the OAuth client that acts for it')
    .option('--issuer <url>', 'the issuer of its token')
    .option('--operation <name>', 'one operation instead of all: list, read, metadata, subscribe or complete')
    .option('--tool <name>', 'a tool, instead of a URI')
    .option('--arguments <json>', 'the arguments of the call')
    .option('--prompt <name>', 'a prompt, instead of a URI')
    .action(async (uri: string | undefined, flags: ExplainFlags) => {
      const { explain } = await import('./explain.ts');
      await explain(uri, flags, secrets);
    });

  const pins = program
    .command('pins')
    .summary('review and accept changes of mounted servers')
    .description('Reviews the definitions of tools and prompts of mounted servers with pins.')
    .action(() => {
      throw new UsageError('Give a command, as in: vitrine pins review vitrine.yaml');
    });
  const withSources = (command: Command): Command =>
    command
      .argument('[config]', 'a vitrine.yaml (default: what --config says)')
      .option('--config <file>', 'the configuration')
      .option('--mcp-config <file>', 'a file with mcpServers')
      .option('--mount <name>', 'only this mount (may be repeated)', collect);
  withSources(pins.command('review'))
    .description(
      'Shows the differences from the accepted definitions, and asks for each server whether to accept all of them. ' +
        'Exits with 1 if some are not accepted, or if a server is not reached.',
    )
    .option('--accept', 'accept all without asking')
    .action(async (path: string | undefined, flags: ReviewFlags) => {
      const { pinsReview } = await import('./pins.ts');
      await pinsReview(path === undefined ? [] : [path], flags, secrets);
    });
  withSources(pins.command('check'))
    .description('Exits with 1 if a definition is new or changed, or if a server is not reached. Accepts nothing.')
    .action(async (path: string | undefined, flags: PinFlags) => {
      const { pinsCheck } = await import('./pins.ts');
      await pinsCheck(path === undefined ? [] : [path], flags, secrets);
    });

  const audit = program
    .command('audit')
    .summary('verify or print the audit of a server')
    .description('Verifies or prints the audit of a server.')
    .action(() => {
      throw new UsageError('Give a command, as in: vitrine audit verify audit.jsonl');
    });
  audit
    .command('verify')
    .description(
      'Reads an audit file and its rotated files, and reports lines that were changed, cut, moved, ' +
        'or are missing. Exits with 1 if there are any.',
    )
    .argument('<file...>', 'the current file of a server; or all files of an audit, in any order')
    .option('--head <sha256>', 'the hash of a line that must exist; without it a missing end is not found')
    .option('--anchor <file>', 'the heads that audit.anchor noted elsewhere; each must exist')
    .option('--each', 'each file is a separate chain, as with workers and replicas')
    .action(async (files: readonly string[], flags: VerifyFlags) => {
      const { auditVerify } = await import('./audit.ts');
      await auditVerify(files, flags);
    });

  audit
    .command('merge')
    .description(
      'Prints the lines of several chains, as of workers and replicas, in order of time, each after the name of its file.',
    )
    .argument('<file...>', 'the current file of each; its rotated files are read too')
    .action(async (files: readonly string[]) => {
      const { auditMerge } = await import('./audit.ts');
      await auditMerge(files);
    });

  addHostCommands(program, secrets, terminal);
  addClientCommands(program, secrets, terminal);

  for (const command of [...program.commands, ...audit.commands, ...pins.commands])
    command.exitOverride().configureOutput({ outputError: () => {} });
  return program;
}

const EXAMPLES = `
Examples:
  vitrine ./docs                           a folder: over HTTP to whoever types this, else to the host that starts it
  vitrine serve ./docs                     a folder, to the host that starts this command
  vitrine serve ./docs --http 8931         the same at http://127.0.0.1:8931/mcp
  vitrine serve ./docs ./data --name team  two folders, as docs+file:///... and data+file:///...
  vitrine serve --config vitrine.yaml      what the file says; see docs/guide/configuration.md
  vitrine serve --mcp-config mcp.json      the servers of a host in one; see docs/guide/gateway.md
  vitrine serve https://mcp.example/mcp    another server, for hosts that cannot reach it
  vitrine serve https://example.com/feed   a page, a feed or an answer of the web

  vitrine add claude-code ./docs           has a host start it: shows what changes in the host's configuration, and asks
  vitrine init ./docs                      writes a vitrine.yaml from what is in a folder
`;

/** @throws UsageError for arguments that commander refuses; help and version are printed */
export async function runProgram(args: readonly string[], secrets: Secrets, terminal: Terminal): Promise<void> {
  let short = false;
  const program = createProgram(secrets, terminal, () => short);
  if (args.length === 0) {
    program.outputHelp();
    return;
  }
  short = isSource(args[0], program);
  try {
    await program.parseAsync(short ? ['serve', ...args] : [...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return;
    const line = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
    throw new UsageError(`${line}; see ${[...commandsOf(program, args), '--help'].join(' ')}`);
  }
}

/** Whether the first word is a source to serve: a path, a URL, or the name of a file or folder here. */
function isSource(typed: string | undefined, { commands }: Command): boolean {
  if (typed === undefined || typed.startsWith('-')) return false;
  return /[./\\:]/.test(typed) || (commands.every((each) => each.name() !== typed) && existsSync(typed));
}

/** Returns the names of the typed commands: `vitrine`, `vitrine ls`, `vitrine audit verify`. */
function commandsOf(command: Command, [typed, ...rest]: readonly string[]): readonly string[] {
  const found = command.commands.find((each) => each.name() === typed);
  return [command.name(), ...(found === undefined ? [] : commandsOf(found, rest))];
}
