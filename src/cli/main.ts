#!/usr/bin/env node
/** The `vitrine` command. */
import { createSecrets } from '../config/secrets.ts';
import { explainFailure } from './errors.ts';
import { runProgram } from './program.ts';

const secrets = createSecrets();
try {
  await runProgram(process.argv.slice(2), secrets);
} catch (error) {
  const { line, status } = explainFailure(error);
  process.stderr.write(`vitrine: ${secrets.hide(line)}\n`);
  process.exitCode = status;
}
