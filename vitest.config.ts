import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import SlowestFiles from './test/runner/slowest.ts';
import { TEMPORARY } from './test/runner/temporary.ts';

/**
 * These take minutes, or need what others made: databases, object stores, browsers, servers and clients of other makers. Or
 * they try very many cases of which `npm test` tries some: all attacks on paths, all cells of access, races.
 */
const LONG = [
  // `unit` has them with files in memory: here they are on a disk.
  'src/providers/files/{again,files.contract,kept-pages,watch}.test.ts',
  'test/client/browser.test.ts',
  'test/cli/{configuration,gateway,hosts,init,pins,serve}.test.ts',
  'test/cli/client/{complete,completions,convert,find,no-server,open,processes,statuses,targets,terminal}.test.ts',
  'test/client/endless.test.ts',
  'test/deploy/{caddy,helm,unit}.test.ts',
  'test/e2e/{cancellation,metadata,real-tree,shutdown}.test.ts',
  'test/explorer/{app-hostile,app-in-host,chromium,island,island-*}.test.ts',
  'test/fuzz/**/*.test.ts',
  'test/gateway/faults/dying.test.ts',
  'test/gateway/many.test.ts',
  'test/gateway/storm.test.ts',
  'test/interop/**/*.test.ts',
  'test/package.test.ts',
  'test/providers/sql/**/*.test.ts',
  'test/replicas/{answers-redis,failover,killed,metrics,one-watcher-redis,one-watcher-sql,rates,redis}.test.ts',
  'test/search/**/*.test.ts',
  'test/security/access/model/**/*.test.ts',
  'test/security/access-{matrix,matrix-*}.test.ts',
  'test/security/{audit,audit-lock}.test.ts',
  'test/security/{hostile-answers,limits}.test.ts',
  'test/security/paths.test.ts',
  'test/security/swaps.test.ts',
  'test/services/**/*.test.ts',
  'test/soak/**/*.test.ts',
];

/**
 * These try every combination of transports, eras, callers and faults, or take many seconds. `wire` and `unit` have tests of the same
 * parts that try a few; these are for `npm run test:all`, and share processes as those of `wire` do.
 */
const COMBINATIONS = [
  'src/core/{schema/check,uri-template.property}.test.ts',
  'src/layers/limits/shared-counter.test.ts',
  'src/layers/redact/searching.test.ts',
  'src/providers/{files/layered,git/git,s3/s3,sql/sqlite}.contract.test.ts',
  'src/providers/files/{gitignore,open,snapshots}.test.ts',
  'src/providers/git/{history,round-trip,templates}.test.ts',
  'src/providers/upstream/pins/file.test.ts',
  'src/search/{access.property,crawler,embeddings,held-folder,scoring,second-look,thread}.test.ts',
  'test/client/get/{acting,wanted}.test.ts',
  'test/client/guards/sampling.test.ts',
  'test/client/{hostile,lost-connections,safety/sanitizer,skills/hostile}.test.ts',
  'test/connection/faults.test.ts',
  'test/doctor/{faults,vitrine}.test.ts',
  'test/e2e/{content-versions,index-faults,index-seen,list-changed,long-contents,nested,nested-git,prompts,ranked-search}.test.ts',
  'test/e2e/{reload,subscriptions,templates,tools-list,tools-search,tools-windows}.test.ts',
  'test/explorer/{client,pages,raw-ranges,search}.test.ts',
  'test/forms/{bombs,forms,media}.test.ts',
  'test/gateway/authorization/{cli,machine,person,renewal}.test.ts',
  'test/gateway/faults/{garbling,icons,malformed,pins,refusing,said,silent}.test.ts',
  'test/gateway/{flooding,isolation,pairings,whole}.test.ts',
  'test/gateway/slow/**/*.test.ts',
  'test/gateway/starts/**/*.test.ts',
  'test/gateway/strangers/{asking,callers,capabilities,client,icons,introduction,official,sep}.test.ts',
  'test/gateway/tasks/tasks.test.ts',
  'test/injection/**/*.test.ts',
  'test/new-provider.test.ts',
  'test/pins/{api,exports,raw-requests}.test.ts',
  'test/{programs,release}.test.ts',
  'test/providers/{alone,http/contract,http/feeds}.test.ts',
  'test/replicas/{answers,model,one-watcher,one-watcher-upstream,tls}.test.ts',
  'test/security/{access-asking,access-hidden,access-names,access-rows,access-updates,access-views,cedar-live}.test.ts',
  'test/security/{audit-anchor,audit-outside,audit-tampering,fair-queues,mutual-tls,operators}.test.ts',
  'test/security/authorization{,-dpop,-expiry,-introspection}.test.ts',
  'test/security/{redaction,redaction-names,redaction-search,slow-clients,tls,usage}.test.ts',
  'test/security/incidents/{entries,forged-requests}.test.ts',
  'test/sep-2093/taught.test.ts',
  'test/telemetry/closing.test.ts',
];

/** Only a process of its own shows these: signals, standard streams, memory, exit statuses. */
const PROCESS = [
  'test/cli/**/*.test.ts',
  'test/e2e/{cancellation,metadata,pipes,shutdown,stdio}.test.ts',
  'test/package.test.ts',
  'test/security/{audit,limits}.test.ts',
];

/** These count the timers that are left: a file before them in the same process may set one at any time. */
const COUNTS_TIMERS = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => `src/${path}`)
  .filter((path) => readFileSync(path, 'utf8').includes('getTimerCount'));

/** Changes where temporary folders are. */
const NESTED_GIT = 'src/config/nested-git.test.ts';

/** These replace modules, change the environment, or count what the whole process does. */
const APART = [
  ...COUNTS_TIMERS,
  NESTED_GIT,
  'test/errors/tap.test.ts',
  'test/security/hidden-together.test.ts',
  'test/security/incidents/programs.test.ts',
];

/** Each of them grows to a gigabyte. */
const MAX_WORKERS = 6;

export default defineConfig({
  // Plug-ins import `vitrine/plug-in` as packages of others do: here that is its source.
  resolve: { tsconfigPaths: true },
  test: {
    // The projects share modules that were made from TypeScript, and the next run has them as well.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.vite/test-modules' },
    globalSetup: ['test/runner/packages.ts'],
    // A file that never loads ends; every error that leaves a server while a test runs is looked at.
    setupFiles: ['test/runner/loading.ts', 'test/errors/setup.ts'],
    reporters: ['default', new SlowestFiles()],
    // A fault that is everywhere is known by then; each test that waits in vain takes two minutes.
    bail: 25,
    // A sixth of a test is waiting for processes and timers: one file more than there are cores keeps them busy.
    maxWorkers: Math.min(availableParallelism() + 1, MAX_WORKERS),
    // Only what hangs takes so long: a busy machine has its time. `test/e2e/waiting.ts` gives up before, and says on what.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 120_000 } },
    teardownTimeout: 30_000,
    coverage: {
      include: ['src/**', 'plug-ins/**'],
      exclude: ['**/*.test.ts'],
      reporter: ['text-summary', 'json-summary'],
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{src,plug-ins}/**/*.test.ts'],
          exclude: [...COUNTS_TIMERS, ...COMBINATIONS, NESTED_GIT],
          env: TEMPORARY,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'wire',
          include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: [...PROCESS, ...LONG, ...COMBINATIONS, ...APART],
          env: TEMPORARY,
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'apart', include: APART },
      },
      {
        extends: true,
        test: { name: 'process', include: PROCESS, exclude: LONG, isolate: false },
      },
      {
        extends: true,
        test: { name: 'combinations', include: COMBINATIONS, env: TEMPORARY, isolate: false },
      },
      {
        extends: true,
        test: { name: 'long', include: LONG },
      },
    ],
  },
});
