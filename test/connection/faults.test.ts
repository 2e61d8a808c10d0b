/**
 * A server has a fault during a request, over every kind of connection: from the client library and from the gateway, to a program and
 * to a URL, in both eras. Each request ends with an error that names the fault, or with the answer. When the server works again, so do
 * requests.
 */
import { describe, expect, it } from 'vitest';
import { connectResourceClient } from '../../src/client/node/index.ts';
import { failure } from '../e2e/answers.ts';
import { MATRIX } from '../e2e/harness.ts';
import { PATIENCE_MS, slowness, until, within } from '../e2e/waiting.ts';
import { type Fault, type Faulty, faulty } from '../gateway/faults/faulty.ts';
import { read as readThrough, setScene } from '../gateway/faults/scene.ts';
import type { Way } from '../gateway/fixture/link.ts';

interface Row {
  readonly fault: Fault;
  /** A read ends with one of these errors, or with the answer if the server works. */
  readonly ends: readonly string[] | 'answered';
  /** The fault ends the server. The test starts a server with a URL again; the reader starts a program again. */
  readonly restarts?: boolean;
  /**
   * On a busy machine, a read of the client library may also end with this error: if the flood stays below the limit, the read
   * waits until its time is over.
   */
  readonly whenSlow?: string;
  /** Reads are not answered again within the test: a server that went over a limit gets no requests for minutes. */
  readonly returns?: false;
}

const READ = ['resources/read'];
const ENDED = ['unavailable'];

const FAULTS: Readonly<Record<string, Row>> = {
  kill: { fault: { kind: 'die', on: READ }, ends: ENDED, restarts: true },
  'half an answer': { fault: { kind: 'die-half', on: READ }, ends: ENDED, restarts: true },
  stop: { fault: { kind: 'deaf' }, ends: ['timeout', 'unavailable'] },
  'no answer': { fault: { kind: 'hang', on: READ }, ends: ['timeout'] },
  slow: { fault: { kind: 'slow', on: READ }, ends: 'answered' },
  junk: {
    fault: { kind: 'garbled', form: 'no JSON', on: READ },
    ends: ['timeout', 'unavailable', 'internal', 'failed'],
  },
  'another answer': {
    fault: { kind: 'garbled', form: 'a result that is none', on: READ },
    ends: ['timeout', 'unavailable', 'internal', 'failed'],
  },
  flood: { fault: { kind: 'flood', on: READ }, ends: ENDED, whenSlow: 'timeout', returns: false },
  restart: { fault: { kind: 'crash-loop' }, ends: ENDED, restarts: true },
};

/** Reads once. Gives the text, or fails with the error. */
interface Reader extends AsyncDisposable {
  readonly server: Faulty;
  read(): Promise<string | undefined>;
  /** The error of a failed read. */
  reason(reading: Promise<unknown>): Promise<unknown>;
}

/** Whether the reader has the usual limit for floods. The gateway gets a lower one. */
const isUnlimited = (reader: string): boolean => reader === 'the client library';

/** The lower limit for floods: the messages a second that no request asked for. A working server sends fewer. */
const FEW = 50;

/** Whether timeouts are short. Otherwise every request has all the time it needs. */
const isHurried = ({ ends }: Row): boolean => ends.includes('timeout');

const READERS: Readonly<Record<string, (way: Way, row: Row) => Promise<Reader>>> = {
  async 'the client library'(way, row) {
    const server = await faulty(way);
    const resources = await connectResourceClient(server.target, {
      timeoutMs: isHurried(row) ? 2_000 * slowness() : PATIENCE_MS / 2,
    });
    return {
      server,
      read: async () => (await resources.read('thing:///one')).primary?.text(),
      reason: (reading) =>
        reading.then(
          (answer) => answer,
          (error: { readonly code?: unknown }) => error.code,
        ),
      async [Symbol.asyncDispose]() {
        await resources.close();
        await server[Symbol.asyncDispose]();
      },
    };
  },
  async 'the gateway'(way, row) {
    // On a busy machine a flood may arrive more slowly than the usual limit, so the limit is lower.
    const limit = row.fault.kind === 'flood' ? { upstream: { maxMessagesPerSecond: FEW } } : {};
    const scene = await setScene(way, { hurried: isHurried(row), subscribed: false, ...limit });
    const [, client] = scene.clients;
    if (client === undefined) throw new Error('no client');
    return {
      server: scene.server,
      read: () => readThrough(client, 'faulty+thing:///one'),
      reason: async (reading) => (await failure(reading)).data?.reason,
      [Symbol.asyncDispose]: () => scene.close(),
    };
  },
};

describe.concurrent.each(Object.keys(READERS))('%s', (name) => {
  describe.concurrent.each(MATRIX)('and a server of the $era era over $transport', (way) => {
    it.each(Object.entries(FAULTS))('%s', async (_, row) => {
      await using reader = (await READERS[name]?.(way, row)) as Reader;
      const { server } = reader;
      const isWell = async (): Promise<boolean> => (await reader.read().catch(() => undefined)) === 'at first';
      await until(isWell, 'the first answer');
      await server.fails(row.fault);
      if (row.fault.kind === 'crash-loop') await until(async () => (await server.running()).length === 0, 'its end');
      const reading = reader.read();
      if (row.ends === 'answered') {
        reading.catch(() => {});
        await until(
          async () => (await server.noted()).filter(({ method }) => method === 'resources/read').length > 1,
          'the read',
        );
      } else {
        const reason = await within(reader.reason(reading), 'the end of the read');
        expect(isUnlimited(name) && slowness() > 2 ? [...row.ends, row.whenSlow] : row.ends).toContain(reason);
      }
      await server.well();
      if (row.restarts === true) await server.restart();
      if (row.ends === 'answered') expect(await within(reading, 'the answer')).toBe('at first');
      if (row.returns !== false) await until(isWell, 'the server to be there again');
    });
  });
});
