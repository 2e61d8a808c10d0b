/**
 * `get` and `doctor` against servers of other makers: `get` writes the bytes that the server has, and `doctor` finds what
 * docs/guide/doctor.md lists.
 */
import { mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Diagnosis, diagnose } from '../../src/cli/client/doctor/diagnose.ts';
import {
  connectResourceClient,
  type GetEntry,
  type GetReport,
  getResources,
  type StdioTarget,
} from '../../src/client/node/index.ts';
import { ROOT } from '../e2e/harness.ts';
import { answer, type Data } from './peer.ts';
import { type InteropServer, isInstalled, SERVERS } from './servers/index.ts';

// Many processes start, one after the other where there are few processors.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 300_000 });

/** Not examined: each shows the same as another server that has the same maker or is built alike. */
const LEFT_OUT: ReadonlySet<string> = new Set(['calc', 'py.git', 'py.calculator', 'rust.http']);

const wanted = SERVERS.filter(({ name }) => !LEFT_OUT.has(name));
const servers = wanted.filter(isInstalled);
const absent = wanted.filter((server) => !servers.includes(server)).map(({ name }) => name);
if (absent.length > 0) console.info(`Not installed, and left out: ${absent.join(', ')}`);

/** Servers that are examined at the same time. */
const CONCURRENCY = 3;

interface Got {
  readonly report: GetReport;
  readonly again: GetReport;
  readonly entries: readonly GetEntry[];
  /** The bytes of the files, and the bytes of the server's answers to the same requests, by URI. */
  readonly files: Readonly<Record<string, Buffer>>;
  readonly direct: Readonly<Record<string, Buffer>>;
}

let root: string;
const diagnoses = new Map<string, Diagnosis>();
const got = new Map<string, Got>();

async function targetOf(server: InteropServer, place: string): Promise<StdioTarget> {
  const cwd = join(root, place, server.name);
  await mkdir(cwd, { recursive: true });
  await server.prepare?.(cwd);
  return { ...server.start(cwd), cwd };
}

async function getFrom(server: InteropServer): Promise<Got> {
  await using resources = await connectResourceClient(
    { ...(await targetOf(server, 'get')), connectTimeoutMs: 60_000 },
    { timeoutMs: 60_000 },
  );
  const folder = join(root, 'files', server.name);
  const entries: GetEntry[] = [];
  // Resources that templates name are fetched, too, if they stay the same.
  const named = server.name === 'shelf' ? (server.reads ?? []).map(({ params }) => params.uri) : undefined;
  const report = await getResources(resources, named, folder, { onEntry: (entry) => entries.push(entry) });
  const again = await getResources(resources, named, folder);
  const client = await resources.client();
  const files: Record<string, Buffer> = {};
  const direct: Record<string, Buffer> = {};
  for (const { uri, path } of entries) {
    if (path === undefined) continue;
    files[uri] = await readFile(join(folder, path));
    const { contents } = await answer(client, 'resources/read', { uri });
    const [{ text, blob } = {}] = contents as readonly Data[];
    direct[uri] = typeof text === 'string' ? Buffer.from(text, 'utf8') : Buffer.from(String(blob), 'base64');
  }
  return { report, again, entries, files, direct };
}

async function examine(server: InteropServer): Promise<void> {
  const eras = server.era === 'modern' ? (['legacy', 'modern'] as const) : (['legacy'] as const);
  diagnoses.set(server.name, await diagnose(await targetOf(server, 'doctor'), { eras, timeoutMs: 60_000 }));
  if (server.has.resources !== 'none' && server.has.resources > 0) got.set(server.name, await getFrom(server));
}

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'vitrine-examined-')));
  const waiting = [...servers];
  const work = async (): Promise<void> => {
    for (let server = waiting.shift(); server !== undefined; server = waiting.shift()) await examine(server);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
});
afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));

/** The rows of the table in the documentation, by server: its version, and what is found in it. */
async function documented(): Promise<ReadonlyMap<string, { readonly version: string; readonly found: string }>> {
  const text = await readFile(join(ROOT, 'docs/guide/doctor.md'), 'utf8');
  const [, table = ''] = text.split('<!-- servers -->');
  const rows = table.split('\n').filter((line) => line.startsWith('| `'));
  return new Map(
    rows.map((row) => {
      const [, name = '', , version = '', found = ''] = row.split('|').map((cell) => cell.trim());
      return [name.replaceAll('`', ''), { version, found }];
    }),
  );
}

/** Gives the findings, as the table has them. */
const foundIn = ({ results }: Diagnosis): string => {
  const ids = (level: string): readonly string[] => [
    ...new Set(results.filter((each) => each.status === 'problem' && each.level === level).map(({ id }) => id)),
  ];
  return [...ids('error').map((id) => `**${id}**`), ...ids('warning')].join(', ');
};

describe.each(servers)('$name by $make', (server) => {
  it('has the problems that the documentation lists', async () => {
    const diagnosis = diagnoses.get(server.name);
    if (diagnosis === undefined) throw new Error('It was not examined');
    expect(diagnosis.eras.map(({ refused }) => refused)).not.toContainEqual(expect.any(String));
    const row = (await documented()).get(server.name);
    expect({ version: diagnosis.server.version, found: foundIn(diagnosis) }).toEqual(row);
    // The checks were made, and not left out.
    expect(diagnosis.passed).toBeGreaterThan(10);
  });
});

describe.each(servers.filter(({ has }) => has.resources !== 'none' && has.resources > 0))(
  'get from $name',
  (server) => {
    it('writes what the server has, byte for byte, and nothing again the next time', () => {
      const { report, again, files, direct, entries } = got.get(server.name) as Got;
      // This server refuses to read all that it lists, so nothing is written.
      const failed = server.name === 'onepassword' ? Number(server.has.resources) : 0;
      const listed = server.name === 'shelf' ? (server.reads?.length ?? 0) : Number(server.has.resources);
      expect(entries.filter(({ status }) => status === 'failed').map(({ uri }) => uri)).toHaveLength(failed);
      expect(report).toMatchObject({ written: listed - failed, failed, complete: failed === 0 });
      expect(Object.keys(files)).toHaveLength(listed - failed);
      for (const [uri, bytes] of Object.entries(files))
        expect(bytes.equals(direct[uri] ?? Buffer.from('?')), uri).toBe(true);
      expect(again).toMatchObject({ written: 0, unchanged: listed - failed, failed });
    });
  },
);

it('resources of at least eight servers are written in CI', () => {
  const written = [...got.values()].filter(({ report }) => report.written > 0);
  expect(written.length).toBeGreaterThanOrEqual(process.env.CI === 'true' ? 8 : 0);
});
