/** Runs the command line, and prints what went wrong. */
import { createSecrets } from '../config/secrets.ts';
import { stripControls } from '../core/text/scrub.ts';
import { explainFailure } from './errors.ts';
import { runProgram } from './program.ts';
import { processTerminal } from './terminal.ts';

/** Runs the arguments of this process. An error becomes lines on standard error and the exit status. */
export async function runCommand(): Promise<void> {
  const secrets = createSecrets();
  try {
    await runProgram(process.argv.slice(2), secrets, processTerminal);
  } catch (error) {
    const { line, status } = explainFailure(error);
    for (const part of line.split('\n')) process.stderr.write(`vitrine: ${stripControls(secrets.hide(part))}\n`);
    process.exitCode = status;
  }
}
