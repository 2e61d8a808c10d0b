/** `vitrine skills`: its commands, their options and their help. */
import type { Command } from 'commander';
import type { Secrets } from '../../../config/secrets.ts';
import { UsageError } from '../../errors.ts';
import { collect, SERVER_ARGUMENT, serverOptions } from '../options.ts';
import type { ServerFlags } from '../reaching/connect.ts';
import type { SkillsGetFlags } from './get.ts';
import type { SkillsLsFlags } from './ls.ts';

const SKILL_ARGUMENT = 'the name of a skill, the end of its path, or its URI';

/** Adds the commands for the skills of a server. */
export function addSkillCommands(program: Command, secrets: Secrets): void {
  const skills = program
    .command('skills')
    .summary('show, download and verify the skills of a server')
    .description('Works with the skills of a server that declares them (SEP-2640). Nothing in a skill is run.')
    .action(() => {
      throw new UsageError('Say what to do, as in: vitrine skills ls <server>');
    });

  serverOptions(skills.command('ls'))
    .summary('list the skills of a server')
    .description('Lists name, files, bytes, URI and description of each skill. No file is read.')
    .argument('<server>', SERVER_ARGUMENT)
    .option('--max-resources <count>', 'skills that are listed (default: 10000)')
    .action(async (server: string, flags: SkillsLsFlags) => {
      const { skillsLs } = await import('./ls.ts');
      await skillsLs(server, flags, secrets);
    });

  serverOptions(skills.command('show'))
    .summary('print a skill')
    .description('Prints the frontmatter and the text of SKILL.md, if they match the entry of the skill.')
    .argument('<server>', SERVER_ARGUMENT)
    .argument('<skill>', SKILL_ARGUMENT)
    .action(async (server: string, skill: string, flags: ServerFlags) => {
      const { skillsShow } = await import('./show.ts');
      await skillsShow(server, skill, flags, secrets);
    });

  serverOptions(skills.command('get'))
    .summary('write skills to folders')
    .description(
      'Writes each skill to a folder of its name, once every file of the skill is verified. The files of a dynamic skill ' +
        'cannot be verified. Names are made safe. An existing skill is replaced only with --force.',
    )
    .argument('<server>', SERVER_ARGUMENT)
    .argument('<skill...>', SKILL_ARGUMENT)
    .requiredOption('-o, --to <folder>', 'the folder in which the folders of the skills are made')
    .option('--force', 'replace a skill of that name')
    .option('--keep-name <name>', 'keep this name although tools act on it, as in .vscode (may be repeated)', collect)
    .action(async (server: string, words: readonly string[], flags: SkillsGetFlags) => {
      const { skillsGet } = await import('./get.ts');
      await skillsGet(server, words, flags, secrets);
    });

  serverOptions(skills.command('verify'))
    .summary('check the files of skills against their entries')
    .description(
      'Reads every file of the named skills, or of all listed skills, and compares sizes, digests and frontmatter with ' +
        'their entries. Exits with 1 if something differs.',
    )
    .argument('<server>', SERVER_ARGUMENT)
    .argument('[skill...]', SKILL_ARGUMENT)
    .action(async (server: string, words: readonly string[], flags: ServerFlags) => {
      const { skillsVerify } = await import('./verify.ts');
      await skillsVerify(server, words, flags, secrets);
    });
}
