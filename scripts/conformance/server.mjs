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
import { REVISIONS, root, runExtensions, runRevision, startFixture } from './suite.mjs';

const results = await mkdtemp(join(tmpdir(), 'vitrine-conformance-'));
const fixture = await startFixture();
try {
  const rows = [];
  for (const revision of REVISIONS) rows.push(...(await runRevision(fixture.url, revision, results)));
  rows.push(...(await runExtensions(fixture.url, new Set(rows.map((row) => row.scenario)), results)));
  const notes = JSON.parse(await readFile(join(root, 'test/conformance/notes.json'), 'utf8'));
  print(rows, notes);
  const problems = judge(rows, notes);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) {
    console.error(`\nWhat the fixture logged:\n${fixture.log()}`);
    process.exitCode = 1;
  }
} finally {
  await fixture.stop();
  await rm(results, { recursive: true, force: true });
}

function print(rows, notes) {
  const width = Math.max(...rows.map((row) => row.scenario.length));
  console.log(
    `${'revision'.padEnd(11)} ${'scenario'.padEnd(width)} ${'kind'.padEnd(19)} ${'outcome'.padEnd(8)} checks`,
  );
  for (const { revision, scenario, kind, outcome, passed } of rows) {
    const note = outcome === 'passed' ? '' : `  ${notes[scenario] ?? ''}`;
    console.log(
      `${revision.padEnd(11)} ${scenario.padEnd(width)} ${kind.padEnd(19)} ${outcome.padEnd(8)} ${String(passed).padStart(6)}${note}`,
    );
  }
  for (const revision of REVISIONS) {
    const required = rows.filter((row) => row.revision === revision && row.kind === 'required');
    const passed = required.filter((row) => row.outcome === 'passed');
    console.log(`\n${revision}: ${passed.length} of ${required.length} required scenarios pass`);
  }
}

/** What keeps this run from being a success. */
function judge(rows, notes) {
  const open = rows.filter((row) => row.outcome !== 'passed');
  const wrong = open.filter((row) => row.kind === 'required' || notes[row.scenario] === undefined);
  const excused = new Set(open.filter((row) => row.kind !== 'required').map((row) => row.scenario));
  const stale = Object.keys(notes).filter((scenario) => !excused.has(scenario));
  return [
    ...wrong.map(
      (row) => `${row.revision} ${row.scenario} (${row.kind}) ${row.outcome}\n  ${row.problems.join('\n  ')}`,
    ),
    ...stale.map(
      (scenario) => `test/conformance/notes.json: ${scenario} passes, or is required or not there; remove it`,
    ),
  ];
}
