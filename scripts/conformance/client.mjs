/**
 * Runs the official suite's client scenarios, of both protocol revisions and of extensions, against a program around
 * `vitrine/client` (`test/conformance/client.ts`).
 *
 * Fails if a required scenario does not pass, if another scenario does not pass and `test/conformance/client-notes.json` gives no reason,
 * and if a note there is stale.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judge, print } from './report.mjs';
import { clientCommand, REVISIONS, root, runClientExtensions, runSide } from './suite.mjs';

const NOTES = 'test/conformance/client-notes.json';
const results = await mkdtemp(join(tmpdir(), 'vitrine-conformance-'));
try {
  const rows = [];
  const side = clientCommand(join(root, 'test/conformance/client.ts'));
  for (const revision of REVISIONS) rows.push(...(await runSide(side, revision, results)));
  rows.push(...(await runClientExtensions(side, new Set(rows.map((row) => row.scenario)), results)));
  const notes = JSON.parse(await readFile(join(root, NOTES), 'utf8'));
  print(rows, notes);
  const problems = judge(rows, notes, NOTES);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
} finally {
  await rm(results, { recursive: true, force: true });
}
