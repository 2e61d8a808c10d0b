/**
 * Runs the official conformance suite against `test/conformance/server.ts`, for both protocol revisions, and then what
 * no revision requires: pending scenarios and extensions.
 *
 * Fails when a required scenario does not pass, when another one does not and `test/conformance/notes.json` has no reason
 * for it, and when a note there is stale. There is no list of expected failures: nothing that is required is excused.
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
