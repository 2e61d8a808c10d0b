#!/usr/bin/env node
/** The `vitrine` command. */
import { explainFailure } from './errors.ts';
import { runProgram } from './program.ts';

try {
  await runProgram(process.argv.slice(2));
} catch (error) {
  const { line, status } = explainFailure(error);
  process.stderr.write(`vitrine: ${line}\n`);
  process.exitCode = status;
}
