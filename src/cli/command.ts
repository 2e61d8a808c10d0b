/** Runs the command line, and says in one line what went wrong. */
import { createSecrets } from '../config/secrets.ts';
import { stripControls } from '../core/text/scrub.ts';
import { explainFailure } from './errors.ts';
import { runProgram } from './program.ts';
import { processTerminal } from './terminal.ts';

export async function runCommand(): Promise<void> {
  const secrets = createSecrets();
  try {
    await runProgram(process.argv.slice(2), secrets, processTerminal);
  } catch (error) {
    const { line, status } = explainFailure(error);
    for (const each of line.split('\n')) process.stderr.write(`vitrine: ${stripControls(secrets.hide(each))}\n`);
    process.exitCode = status;
  }
}
