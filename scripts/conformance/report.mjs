/** Prints the outcomes of the suite as a table, and finds the reasons why a run is not a success. */
import { REVISIONS } from './suite.mjs';

/** Prints the table. @param notes the reasons why scenarios that are not required do not pass, by scenario */
export function print(rows, notes) {
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

/** Returns the reasons why a run is not a success. @param file the path of the notes */
export function judge(rows, notes, file) {
  const open = rows.filter((row) => row.outcome !== 'passed');
  const wrong = open.filter((row) => row.kind === 'required' || notes[row.scenario] === undefined);
  const excused = new Set(open.filter((row) => row.kind !== 'required').map((row) => row.scenario));
  const stale = Object.keys(notes).filter((scenario) => !excused.has(scenario));
  return [
    ...wrong.map(
      (row) => `${row.revision} ${row.scenario} (${row.kind}) ${row.outcome}\n  ${row.problems.join('\n  ')}`,
    ),
    ...stale.map((scenario) => `${file}: ${scenario} passes, or is required or not there; remove it`),
  ];
}
