/**
 * Runs the official conformance suite against servers, directly and through `vitrine serve`, with each as the only mount, without a
 * prefix, over each wire and in each revision that the server speaks. `upstreams.mjs` lists the servers. Arguments name the servers to
 * run; `--workers 2` serves with two processes.
 *
 * Fails if the outcome of a scenario through the gateway is worse than the direct one, and `DIFFERENCES` gives no reason.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { REVISIONS, root, runExtensions, runRevision, startServer } from './suite.mjs';
import { UPSTREAMS } from './upstreams.mjs';

/** The rank of each outcome. Outcomes through the gateway must not have a lower rank than direct ones. */
const WORTH = { missing: 0, failed: 1, skipped: 2, warned: 3, passed: 4 };

/** The scenarios with another outcome through the gateway, with that outcome and the reason. */
const DIFFERENCES = {
  'server-sse-polling': {
    outcome: 'warned',
    why: 'The tool ends the stream of its own request, which is between the gateway and the server; the stream of the client is the gateway’s, and stays',
  },
  'server-stateless': {
    outcome: 'warned',
    why: 'A configuration may change while it is served, so the gateway tells of changes of its tools; the suite wants to change them by a tool of its own, which the server behind it need not have',
  },
};

const { values, positionals: named } = parseArgs({ options: { workers: { type: 'string' } }, allowPositionals: true });
const unknown = named.filter((name) => !UPSTREAMS.some((upstream) => upstream.name === name));
if (unknown.length > 0) {
  throw new Error(`There is no ${unknown.join(', ')}; there are ${UPSTREAMS.map(({ name }) => name).join(', ')}`);
}

const results = await mkdtemp(join(tmpdir(), 'vitrine-gateway-conformance-'));
const problems = [];
const leftOut = [];
try {
  for (const upstream of UPSTREAMS) {
    if (named.length > 0 && !named.includes(upstream.name)) continue;
    const why = upstream.leftOut?.();
    if (why === undefined) await compare(upstream);
    else leftOut.push(`NOT RUN: ${upstream.name}. ${why}`);
  }
} finally {
  await rm(results, { recursive: true, force: true });
}
for (const line of leftOut) console.log(line);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

/** Runs the suite against a server, and through a gateway for each way to mount it. */
async function compare({ name, revisions, scenarios = /./, extensions, start }) {
  const counted = (rows) => rows.filter(({ scenario }) => scenarios.test(scenario));
  const run = async (url, revision, directory) => [
    ...counted(await runRevision(url, revision, directory)),
    ...(extensions && revision === REVISIONS.at(-1) ? await runExtensions(url, new Set(), directory, extensions) : []),
  ];
  for (const revision of revisions) {
    const server = await start(revision);
    try {
      const direct = await run(server.url, revision, join(results, name, 'direct'));
      for (const [way, mount] of Object.entries(server.mounts)) {
        const gateway = await startGateway(mount);
        try {
          const through = await run(gateway.url, revision, join(results, name, way));
          judge(name, way, revision, direct, through, gateway);
        } finally {
          await gateway.stop();
        }
      }
    } finally {
      await server.stop();
    }
  }
}

function judge(name, way, revision, direct, through, gateway) {
  const byScenario = new Map(through.map((row) => [row.scenario, row]));
  const pairs = direct.map((row) => ({ before: row, after: byScenario.get(row.scenario) ?? row }));
  const passes = (rows) => rows.filter((row) => row.outcome === 'passed').length;
  console.log(
    `${name}, ${revision}, mounted over ${way}: ${passes(through)} of ${through.length} scenarios pass, directly ${passes(direct)}`,
  );
  for (const { before, after } of pairs) {
    if (before.outcome === after.outcome) continue;
    const difference = DIFFERENCES[before.scenario];
    const why = difference?.outcome === after.outcome ? difference.why : undefined;
    const line = `  ${before.scenario}: ${before.outcome} directly, ${after.outcome} through the gateway`;
    console.log(why === undefined ? line : `${line}. ${why}`);
    if (why === undefined && WORTH[after.outcome] < WORTH[before.outcome]) {
      problems.push(`${name} ${revision} ${way}${line}\n    ${after.problems.join('\n    ')}\n${gateway.log()}`);
    }
  }
}

async function startGateway(mount) {
  const config = join(results, `gateway-${crypto.randomUUID()}.json`);
  const mounts = { server: { ...mount, prefix: 'none' } };
  await writeFile(config, JSON.stringify({ tools: 'off', icons: 'off', mounts }));
  const cli = process.env.VITRINE_CLI ?? join(root, 'dist/cli/main.js');
  const workers = values.workers === undefined ? [] : ['--workers', values.workers, '--multiply'];
  return startServer(process.execPath, [cli, 'serve', '--config', config, '--http', '0', ...workers], {
    pattern: /Endpoint: (\S+)/,
  });
}
