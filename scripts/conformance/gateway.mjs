/**
 * Runs the official conformance suite against servers directly and through `vitrine serve`, where each is the only mount,
 * without a prefix: Vitrine's own fixture, which has everything, in both revisions, and the official everything server,
 * over HTTP and over stdio, in the one that it has.
 *
 * Fails when a scenario has another outcome through the gateway than directly, unless it is a better one.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REVISIONS, root, runRevision, startFixture, startServer } from './suite.mjs';

const EVERYTHING = join(
  root,
  'test/interop/servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);

/** What an outcome is worth: through the gateway none is worth less. */
const WORTH = { missing: 0, failed: 1, skipped: 2, warned: 3, passed: 4 };

/** What cannot be the same, and why. */
const DIFFERENCES = {
  'server-sse-polling':
    'The tool ends the stream of its own request, which is between the gateway and the server; the stream of the client is the gateway’s, and stays',
};

const results = await mkdtemp(join(tmpdir(), 'vitrine-gateway-conformance-'));
const problems = [];
try {
  const fixture = await startFixture();
  try {
    await compare('fixture', fixture.url, { http: { url: fixture.url } }, REVISIONS);
  } finally {
    await fixture.stop();
  }
  if (!existsSync(EVERYTHING))
    throw new Error('The everything server is missing: run node scripts/install-interop.mjs');
  const port = await freePort();
  const everything = await startServer(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { PORT: String(port) },
    pattern: /listening on port (\d+)/i,
    urlOf: (found) => `http://127.0.0.1:${found}/mcp`,
  });
  try {
    const mounts = { http: { url: everything.url }, stdio: { command: process.execPath, args: [EVERYTHING, 'stdio'] } };
    await compare('everything', everything.url, mounts, ['2025-11-25']);
  } finally {
    await everything.stop();
  }
} finally {
  await rm(results, { recursive: true, force: true });
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

/** Runs the suite against a server, and through a gateway for each way to mount it. */
async function compare(name, url, mounts, revisions) {
  for (const revision of revisions) {
    const direct = await runRevision(url, revision, join(results, name, 'direct'));
    for (const [way, mount] of Object.entries(mounts)) {
      const gateway = await startGateway(mount);
      try {
        const through = await runRevision(gateway.url, revision, join(results, name, way));
        judge(name, way, revision, direct, through, gateway);
      } finally {
        await gateway.stop();
      }
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
    const why = DIFFERENCES[before.scenario];
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
  return startServer(process.execPath, [cli, 'serve', '--config', config, '--http', '0'], {
    pattern: /Endpoint: (\S+)/,
  });
}

async function freePort() {
  const { createServer } = await import('node:net');
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
