/** The commands of a client, with their options and help. The code of a command is loaded when it runs. */
import { Argument, type Command, Option } from 'commander';
import type { Secrets } from '../../config/secrets.ts';
import type { Terminal } from '../terminal.ts';
import type { CallFlags } from './call.ts';
import type { CatFlags } from './cat.ts';
import type { ConvertFlags } from './convert.ts';
import type { DoctorFlags } from './doctor/index.ts';
import type { FindFlags } from './find.ts';
import type { GetFlags } from './get.ts';
import type { GrepFlags } from './grep/grep.ts';
import type { LsFlags } from './ls.ts';
import type { OpenFlags } from './open.ts';
import { collect, outputOptions, SERVER_ARGUMENT, serverOptions, targetOptions } from './options.ts';
import type { PromptsFlags } from './prompts.ts';
import type { ServerFlags } from './reaching/connect.ts';
import type { ServersFlags } from './servers.ts';
import { addSkillCommands } from './skills/program.ts';
import type { TemplatesFlags } from './templates.ts';
import type { TreeFlags } from './tree.ts';
import type { WatchFlags } from './watch.ts';
import type { WebsiteFlags } from './website.ts';

const URI_ARGUMENT = 'a URI, or a path below the only root of the server';
const MAX_RESOURCES = ['--max-resources <count>', 'the most resources (default: 10000)'] as const;
const MAX_DEPTH = ['--max-depth <levels>', 'the most levels below the start (default: 32)'] as const;
const MAX_BYTES = [
  '--max-bytes <bytes>',
  'the most bytes of one resource, as in 500, 64K or 10M (default: 16M)',
] as const;
const ARG = ['--arg <pair>', 'an argument, as name=value (may be repeated)', collect] as const;

/** Adds the commands of a client. */
export function addClientCommands(program: Command, secrets: Secrets, terminal: Pick<Terminal, 'output'>): void {
  serverOptions(program.command('ls'))
    .summary('list the resources of a server')
    .description(
      'Lists the top level of a server, or the children of resources. A resource without children is listed itself.',
    )
    .argument('<server>', SERVER_ARGUMENT)
    .argument('[uri...]', URI_ARGUMENT)
    .option('-l, --long', 'show size, time and type')
    .option('-R, --recursive', 'everything below, too')
    .option('--all', 'show the default list of the server, as hosts get it')
    .option(...MAX_RESOURCES)
    .option(...MAX_DEPTH)
    .action(async (server: string, uris: readonly string[], flags: LsFlags) => {
      const { ls } = await import('./ls.ts');
      await ls(server, uris, flags, secrets);
    });

  serverOptions(program.command('tree'))
    .summary('draw the resources of a server as a tree')
    .description('Draws all resources of a server, or those below a resource, up to the limits.')
    .argument('<server>', SERVER_ARGUMENT)
    .argument('[uri]', URI_ARGUMENT)
    .option('-l, --long', 'with sizes')
    .option('--uris', 'show URIs instead of names')
    .option(...MAX_RESOURCES)
    .option(...MAX_DEPTH)
    .action(async (server: string, uri: string | undefined, flags: TreeFlags) => {
      const { tree } = await import('./tree.ts');
      await tree(server, uri, flags, secrets);
    });

  serverOptions(program.command('stat'))
    .summary('print the metadata of resources, or of the server')
    .description('Prints the metadata of resources. Without a URI: the description and capabilities of the server.')
    .argument('<server>', SERVER_ARGUMENT)
    .argument('[uri...]', URI_ARGUMENT)
    .action(async (server: string, uris: readonly string[], flags: ServerFlags) => {
      const { stat } = await import('./stat.ts');
      await stat(server, uris, flags, secrets);
    });

  targetOptions(program.command('open'))
    .summary('show a server in the browser')
    .description(
      'Serves the explorer of any server at an address of this machine that only you can open, and opens it in the browser. ' +
        'Ctrl+C ends it and the programs that it started.',
    )
    .argument('<server>', SERVER_ARGUMENT)
    .option('--no-browser', 'print the address without opening it')
    .option('--port <port>', 'listen at this port (default: a free one)')
    .action(async (server: string, flags: OpenFlags) => {
      const { open } = await import('./open.ts');
      await open(server, flags, secrets);
    });

  serverOptions(program.command('website'))
    .summary('open the website of a server')
    .description(
      'Prints the address of the website that a server names, and opens it in the browser. Refuses an address that has ' +
        'neither the origin of the server nor a trusted domain.',
    )
    .argument('<server>', SERVER_ARGUMENT)
    .option('--trust <domain>', 'follow websites of this domain and all below it (may be repeated)', collect)
    .option('--print', 'print the address without opening it')
    .action(async (server: string, flags: WebsiteFlags) => {
      const { website } = await import('./website.ts');
      await website(server, flags, secrets);
    });

  serverOptions(program.command('cat'))
    .summary('print the contents of resources')
    .description(
      'If the output goes to a file or a program, contents are written as they are. On a terminal, text is printed without ' +
        'escapes, images are shown where the terminal can show them, and other binary contents are refused.',
    )
    .argument('<server>', SERVER_ARGUMENT)
    .argument('<uri...>', URI_ARGUMENT)
    .option('--range <bytes>', 'only these bytes: 0-99, 100-, or -50 for the last ones')
    .option('--lines <lines>', 'only these lines, counted from 1: 3, 3-5 or 3-')
    .option('--accept <types>', 'preferred formats, best first, as in text/markdown,text/*')
    .option(...MAX_BYTES)
    .option('--force', 'print binary contents on a terminal, too')
    .action(async (server: string, uris: readonly string[], flags: CatFlags) => {
      const { cat } = await import('./cat.ts');
      await cat(server, uris, flags, secrets);
    });

  outputOptions(program.command('convert'))
    .summary('print a document as Markdown')
    .description(
      'Prints a PDF, a text document, a sheet, a presentation, a web page, a book, a mail or a notebook as Markdown, as a server ' +
        'converts it. Text without another format is printed unchanged.',
    )
    .argument('<file>', 'a document')
    .option('--to <type>', 'another format, as in application/json', 'markdown')
    .option('--max-bytes <bytes>', 'the most bytes of the result, as in 500, 64K or 10M (default: 64M)')
    .action(async (file: string, flags: ConvertFlags) => {
      const { convert } = await import('./convert.ts');
      await convert(file, flags, secrets);
    });

  serverOptions(program.command('grep'))
    .summary('find text in the resources of a server')
    .description(
      'Finds lines by a regular expression (RE2 syntax), with the search of the server where it is a Vitrine, otherwise by ' +
        'reading its texts. Exits with 1 when nothing is found.',
    )
    .argument('<server>', SERVER_ARGUMENT)
    .argument('<pattern>', 'a regular expression')
    .argument('[uri...]', URI_ARGUMENT)
    .option('-i, --ignore-case', 'ignore upper and lower case')
    .option('-F, --fixed-strings', 'take the pattern as plain text')
    .option('-l, --files-with-matches', 'print only resources, each once')
    .option('--include <glob>', 'only matching names, as in *.md, or paths, as in src/**/*.ts')
    .option('--read', 'read the texts, even where the server can search')
    .option('--ranked', 'take the pattern as a question, and print the best matches first, as find does')
    .option('--max-matches <count>', 'the most matches (default: 10000)')
    .option(...MAX_RESOURCES)
    .option(...MAX_DEPTH)
    .option(...MAX_BYTES)
    .action(async (server: string, pattern: string, uris: readonly string[], flags: GrepFlags) => {
      if (flags.ranked === true) {
        const { findInstead } = await import('./find.ts');
        return findInstead(server, pattern, uris, flags, secrets);
      }
      const { grep } = await import('./grep/grep.ts');
      await grep(server, pattern, uris, flags, secrets);
    });

  serverOptions(program.command('find'))
    .summary('find the best places for a question')
    .description(
      'Asks the index of a Vitrine with a question in words; phrases, prefix*, NEAR(a b, 5) and filters such as type:pdf work, ' +
        'too. Exits with 1 when nothing is found, and with 8 where there is no index.',
    )
    .argument('<server>', SERVER_ARGUMENT)
    .argument('<words...>', 'a question, as in: how is the carriage clock wound')
    .option('--in <uri>', 'only in this resource, or below this folder')
    .option('--include <glob>', 'only matching names, as in *.md, or paths, as in src/**/*.ts')
    .option('--max-matches <count>', 'the most places (default: 10)')
    .action(async (server: string, words: readonly string[], flags: FindFlags) => {
      const { find } = await import('./find.ts');
      await find(server, words, flags, secrets);
    });

  serverOptions(program.command('watch'))
    .summary('print changes of resources as they come')
    .description(
      'Prints a line for each change of resources, or, without a URI, for each resource that comes or goes, until it is ' +
        'ended. After a lost connection it connects again, and prints that changes may have been missed.',
    )
    .argument('<server>', SERVER_ARGUMENT)
    .argument('[uri...]', URI_ARGUMENT)
    .option('--count <changes>', 'end after this many changes')
    .action(async (server: string, uris: readonly string[], flags: WatchFlags) => {
      const { watch } = await import('./watch.ts');
      await watch(server, uris, flags, secrets);
    });

  serverOptions(program.command('templates'))
    .summary('list the URI templates of a server')
    .description('Lists URI templates (RFC 6570).')
    .argument('<server>', SERVER_ARGUMENT)
    .option('--max-resources <count>', 'the most templates (default: 10000)')
    .action(async (server: string, flags: TemplatesFlags) => {
      const { templates } = await import('./templates.ts');
      await templates(server, flags, secrets);
    });

  serverOptions(program.command('tools'))
    .summary('list the tools of a server, or describe one')
    .description('Lists tools with their arguments, or prints the description and schemas of one.')
    .argument('<server>', SERVER_ARGUMENT)
    .argument('[tool]', 'the name of a tool')
    .action(async (server: string, tool: string | undefined, flags: ServerFlags) => {
      const { tools } = await import('./tools.ts');
      await tools(server, tool, flags, secrets);
    });

  serverOptions(program.command('call'))
    .summary('call a tool of a server')
    .description(
      'Calls a tool, and prints its result. You answer questions of the server at the terminal; without a terminal they are ' +
        'declined. Exits with 1 when the tool reports a failure.',
    )
    .argument('<server>', SERVER_ARGUMENT)
    .argument('<tool>', 'the name of a tool')
    .option(...ARG)
    .option('--input <json>', 'all arguments as a JSON object; - reads it from standard input')
    .action(async (server: string, tool: string, flags: CallFlags) => {
      const { call } = await import('./call.ts');
      await call(server, tool, flags, secrets);
    });

  serverOptions(program.command('prompts'))
    .summary('list the prompts of a server, or get one')
    .description('Lists prompts with their arguments, or prints the messages of one.')
    .argument('<server>', SERVER_ARGUMENT)
    .argument('[prompt]', 'the name of a prompt')
    .option(...ARG)
    .action(async (server: string, prompt: string | undefined, flags: PromptsFlags) => {
      const { prompts } = await import('./prompts.ts');
      await prompts(server, prompt, flags, secrets);
    });

  serverOptions(program.command('get'))
    .summary('write resources to files')
    .description(
      'Writes all resources of a server, or those below some of them, to files in a folder. A second run fetches only ' +
        'changes; an interrupted run continues. Names are made safe. Files that get did not write are not touched, except ' +
        'with --force.',
    )
    .argument('<server>', SERVER_ARGUMENT)
    .argument('[uri...]', URI_ARGUMENT)
    .requiredOption('--to <folder>', 'the folder; created if missing')
    .option('--accept <types>', 'preferred formats, best first, as in text/markdown,text/*')
    .option('--include <glob>', 'only these, as in *.md or guide/** (may be repeated; default: everything)', collect)
    .option('--exclude <glob>', 'leave these out (may be repeated)', collect)
    .option('--dry-run', 'print what would be read, without reading or writing')
    .option('--force', 'accept a folder that is not empty, and overwrite files in the way')
    .option('--keep-name <name>', 'keep this name although tools act on it, as in .vscode (may be repeated)', collect)
    .option('--fresh', 'fetch everything, even unchanged resources')
    .option('-v, --verbose', 'print a line for each resource')
    .option('--concurrency <count>', 'concurrent reads, up to 64 (default: 4)')
    .option('--max-resources <count>', 'the most resources (default: 100000)')
    .option(...MAX_DEPTH)
    .option('--max-bytes <bytes>', 'the most bytes of one resource, as in 500, 64K or 10M (default: 256M)')
    .option('--max-total-bytes <bytes>', 'the most bytes in total (default: 8G)')
    .action(async (server: string, uris: readonly string[], flags: GetFlags) => {
      const { get } = await import('./get.ts');
      await get(server, uris, flags, secrets);
    });

  addSkillCommands(program, secrets);

  serverOptions(program.command('doctor'))
    .summary('check whether a server does what it declares')
    .description(
      'Connects in both eras of the protocol, makes every request that only reads, and reports what is wrong with a ' +
        'server: what was observed, how to fix it, and the clause of the specification. Exits with 1 when an error was found.',
    )
    .argument('<server>', SERVER_ARGUMENT)
    .option('--strict', 'exit with 1 for warnings, too')
    .option('--call-tools', 'call tools that claim to be read-only and need no arguments')
    .addOption(new Option('--era <year>', 'examine only one era').choices(['2025', '2026']))
    .option('--check <id>', 'make only this check (may be repeated)', collect)
    .option('--skip <id>', 'leave this check out (may be repeated)', collect)
    .option(
      '--sample <count>',
      'the most resources, skills and other entries that are examined, of each kind (default: 20)',
    )
    .option('-v, --verbose', 'print passed checks, too')
    .action(async (server: string, flags: DoctorFlags) => {
      const { doctor } = await import('./doctor/index.ts');
      await doctor(server, flags, secrets);
    });

  outputOptions(program.command('servers'))
    .summary('list the servers that are configured in hosts on this machine')
    .description('Lists the names that you can use instead of a URL. Nothing is started.')
    .option('--mcp-config <file>', 'list only the servers of this file')
    .option('--names', 'names only')
    .action(async (flags: ServersFlags) => {
      const { servers } = await import('./servers.ts');
      await servers(flags, secrets);
    });

  program
    .command('completions')
    .summary('print a completion script for a shell')
    .description('Prints a completion script. For bash: source <(vitrine completions bash)')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish', 'pwsh']))
    .action(async (shell: string) => {
      const { printScript } = await import('../completion/scripts.ts');
      printScript(shell);
    });

  program
    .command('complete', { hidden: true })
    .description('Completes a command line: for the scripts of vitrine completions.')
    .argument('[words...]', 'words after --; the last one is completed')
    .action(async (words: readonly string[]) => {
      const { complete } = await import('../completion/index.ts');
      await complete(program, words, secrets, terminal);
    });
}
