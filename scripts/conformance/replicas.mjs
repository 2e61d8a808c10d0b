/**
 * Runs the required scenarios of both protocol revisions against three replicas over a real Redis, behind a proxy that sends requests to
 * them in turn. Fails if a scenario does not pass, without exceptions.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judge, print } from './report.mjs';
import { REVISIONS, runRevision, startFixture } from './suite.mjs';

const results = await mkdtemp(join(tmpdir(), 'vitrine-conformance-'));
const fixture = await startFixture('replicas.ts');
const rows = [];
try {
  for (const revision of REVISIONS) rows.push(...(await runRevision(fixture.url, revision, results)));
} finally {
  await fixture.stop();
  await rm(results, { recursive: true, force: true });
}
const required = rows.filter(({ kind }) => kind === 'required');
print(required, {});
const problems = judge(required, {}, '');
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error(`\nWhat the replicas logged:\n${fixture.log()}`);
  process.exitCode = 1;
}
