/**
 * Runs the official conformance suite against `test/conformance/server.ts`, for both protocol revisions, and then the scenarios that
 * no revision requires: pending ones and extensions.
 *
 * Fails if a required scenario does not pass, if another scenario does not pass and `test/conformance/notes.json` gives no reason, and if
 * a note there is stale. No failure of a required scenario is expected.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judge, print } from './report.mjs';
import { REVISIONS, root, runExtensions, runRevision, startFixture } from './suite.mjs';

const results = await mkdtemp(join(tmpdir(), 'vitrine-conformance-'));
const fixture = await startFixture();
try {
  const rows = [];
  for (const revision of REVISIONS) rows.push(...(await runRevision(fixture.url, revision, results)));
  rows.push(...(await runExtensions(fixture.url, new Set(rows.map((row) => row.scenario)), results)));
  const notes = JSON.parse(await readFile(join(root, 'test/conformance/notes.json'), 'utf8'));
  print(rows, notes);
  const problems = judge(rows, notes, 'test/conformance/notes.json');
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) {
    console.error(`\nWhat the fixture logged:\n${fixture.log()}`);
    process.exitCode = 1;
  }
} finally {
  await fixture.stop();
  await rm(results, { recursive: true, force: true });
}
