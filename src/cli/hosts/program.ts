/** The commands that add Vitrine to hosts and remove it, with their options and help. */
import { type Command, Option } from 'commander';
import type { Secrets } from '../../config/secrets.ts';
import type { Terminal } from '../terminal.ts';
import type { AddFlags, ChangeFlags } from './change.ts';

const HOST_ARGUMENT =
  'claude-code, claude-desktop, vs-code, vs-code-insiders, cursor, codex, windsurf, zed, gemini-cli, cline, lm-studio, opencode or goose';

export function addHostCommands(program: Command, secrets: Secrets, terminal: Terminal): void {
  changing(program.command('add'), 'the configuration that gets the entry (default: user)')
    .summary('add what is served to a host')
    .description(
      'Writes an entry into the configuration of a host, which then starts Vitrine by itself. Shows what changes there and ' +
        'asks; the rest of the file stays unchanged.',
    )
    .argument('<host>', HOST_ARGUMENT)
    .argument('[path...]', 'what to serve: a folder, a file, the URL of an MCP server, or a vitrine.yaml')
    .option('--config <file>', 'serve the mounts of a configuration file')
    .option('--mcp-config <file>', 'serve the servers of a file with mcpServers')
    .option('--hidden', 'show names that begin with a dot')
    .option('--gitignore', 'leave out what .gitignore files leave out')
    .option('--as-document', 'serve YAML and JSON files themselves, also those with mounts or servers in them')
    .option('--url <url>', 'connect to a running Vitrine at this URL instead of starting one')
    .option('--link', 'print a link that installs the entry, and write nothing (VS Code, Cursor, LM Studio, Goose)')
    .addHelpText('after', EXAMPLES)
    .action(async (host: string, paths: readonly string[], flags: AddFlags) => {
      const { addToHost } = await import('./change.ts');
      await addToHost(host, paths, flags, { secrets, terminal });
    });

  changing(program.command('remove'), 'the only configuration that loses the entry')
    .summary('take an added entry out of a host again')
    .description('Takes the entry out of the configuration of a host. Shows what changes there and asks.')
    .argument('<host>', HOST_ARGUMENT)
    .action(async (host: string, flags: ChangeFlags) => {
      const { removeFromHost } = await import('./change.ts');
      await removeFromHost(host, flags, { secrets, terminal });
    });
}

const changing = (command: Command, scope: string): Command =>
  command
    .option('--name <name>', 'the name of the entry', 'vitrine')
    .addOption(new Option('--scope <scope>', `${scope}; project is this folder`).choices(['user', 'project']))
    .option('--yes', 'write without asking')
    .option('--dry-run', 'show what would change, and write nothing');

const EXAMPLES = `
Examples:
  vitrine add claude-code ./docs                      for you, in every project
  vitrine add cursor ./docs --scope project           for this folder, in .cursor/mcp.json
  vitrine add codex vitrine.yaml --name team          a configuration, beside what is there as "vitrine"
  vitrine add vs-code --url http://127.0.0.1:8931/mcp what vitrine serve --http serves
`;
