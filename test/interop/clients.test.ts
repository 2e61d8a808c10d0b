/**
 * Clients on the SDKs of other makers against `vitrine serve`, which has a folder and somebody else's server: each lists, pages,
 * reads, subscribes, calls, is asked, gets a prompt and completes, over both transports, in each revision that it speaks.
 */
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { CLI, type Listening, startHttp, TRANSPORTS } from '../e2e/harness.ts';
import { absence, CLIENTS, follow, type Plan, type Run } from './clients/index.ts';
import { SERVERS } from './servers/index.ts';

// Clients start one after the other, each with servers of its own where it talks over stdio.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 240_000 });

const PAGE_SIZE = 3;
const PIXEL = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0xff]);
const FILES = { 'note.txt': 'behind glass\n', 'changing.txt': '0\n', 'private/plan.md': 'the plan\n' };

const PLAN: Plan = {
  text: 'desk+file:///note.txt',
  binary: 'desk+file:///pixel.png',
  template: 'everything+demo://resource/dynamic/text/{resourceId}',
  watched: 'desk+file:///changing.txt',
  search: { pattern: 'behind glass', literal: true },
  guarded: 'desk+file:///private/plan.md',
  asking: 'everything_trigger-elicitation-request',
  tries: 300,
  prompt: { name: 'everything_completable-prompt', arguments: { department: 'Engineering', name: 'Alice' } },
  argument: { name: 'department', value: 'E' },
};

/** The milliseconds between writes of the watched file, until the client gets an update: its stream may open late. */
const WRITE_MS = 200;

const stranger = SERVERS.find(({ name }) => name === 'everything');
const lacking = CLIENTS.map((client) => ({ client, why: absence(client) }));
const clients = lacking.filter(({ why }) => why === undefined).map(({ client }) => client);
for (const { client, why } of lacking) if (why !== undefined) console.info(`Left out: ${client.name}, because ${why}`);

const RUNS = clients.flatMap((client) =>
  client.revisions.flatMap((revision) => TRANSPORTS.map((transport) => ({ client, revision, transport }))),
);

let folder: Folder;
let args: readonly string[];
let server: Listening;

beforeAll(async () => {
  const { command, args: program = [] } = stranger?.start('') ?? {};
  expect(existsSync(program[0] ?? ''), 'run node scripts/install-interop.mjs servers clients').toBe(true);
  const files = Object.fromEntries(Object.entries(FILES).map(([name, text]) => [`desk/${name}`, text]));
  folder = await temporaryFolder({ ...files, 'desk/pixel.png': PIXEL });
  const config = await writeConfig(folder, {
    limits: { pageSize: PAGE_SIZE },
    confirm: ['desk+file:///private/*'],
    mounts: { desk: './desk', everything: { command, args: program, connectTimeoutSeconds: 60 } },
  });
  args = ['--config', config];
  server = await startHttp(args);
});

afterAll(async () => {
  await server?.stop();
  await folder?.[Symbol.asyncDispose]();
});

describe.each(RUNS)('$client.make, $revision, over $transport', ({ client, revision, transport }) => {
  let run: Run;

  beforeAll(async () => {
    let writing: NodeJS.Timeout | undefined;
    let times = 0;
    const change = (): void => void folder.write('desk/changing.txt', `${++times}\n`);
    const reached =
      transport === 'http' ? { url: server.url } : { command: process.execPath, args: [CLI, 'serve', ...args] };
    try {
      run = await follow(client, revision, reached, PLAN, (step) => {
        if (step === 'subscribed') writing = setInterval(change, WRITE_MS);
        else clearInterval(writing);
      });
    } finally {
      clearInterval(writing);
    }
  });

  const said = (step: string) => run.steps.get(step);

  it('follows the plan to its end', () => {
    expect(run.stderr).not.toMatch(/error|warn|traceback|panic/i);
    expect([...run.steps.keys()].at(-1), run.stderr).toBe('end');
    expect(run.status).toBe(0);
  });

  it('agrees on the revision', () => {
    expect(said('connect')).toMatchObject({ revision, server: 'vitrine' });
  });

  it('[RES-6] lists everything once, page after page', () => {
    const { uris, pages } = said('list') as unknown as { uris: readonly string[]; pages: number };
    expect(new Set(uris).size).toBe(uris.length);
    expect(uris).toEqual(expect.arrayContaining([PLAN.text, PLAN.binary, PLAN.guarded]));
    expect(uris.filter((uri) => uri.startsWith('everything+demo:')).length).toBeGreaterThanOrEqual(7);
    expect(pages).toBe(Math.ceil(uris.length / PAGE_SIZE));
    expect(said('tools')).toMatchObject({ names: expect.arrayContaining(['read', 'search', 'everything_echo']) });
  });

  it('[RES-2] reads text, bytes, and what a template names', () => {
    expect(said('text')).toMatchObject({ text: FILES['note.txt'] });
    expect(said('binary')).toMatchObject({ base64: PIXEL.toString('base64') });
    expect(said('template')).toMatchObject({ text: expect.stringContaining('Resource 7') });
  });

  it('[RES-4] gets an update of the resource that it subscribed to', () => {
    expect(said('updated')).toMatchObject({ uri: PLAN.watched });
  });

  it('[CB-7] calls the read and the search tool', () => {
    expect(said('read')).toMatchObject({ text: FILES['note.txt'] });
    expect(said('search')).toMatchObject({ text: expect.stringContaining('behind glass') });
  });

  it('is asked, by Vitrine and by the mounted server, and its answers count', () => {
    const question = `May this be read? ${PLAN.guarded}`;
    expect(said('asked')).toMatchObject({ text: FILES['private/plan.md'], questions: [question] });
    expect(said('stranger asked')).toMatchObject({
      text: expect.stringContaining('User declined'),
      questions: ['Please provide inputs for the following fields:'],
    });
  });

  it('[RES-3] gets a prompt, and completes its argument', () => {
    expect(said('prompt')).toMatchObject({ text: 'Please promote Alice to the head of the Engineering team.' });
    expect(said('complete')).toMatchObject({ values: ['Engineering'] });
  });
});
