/** All callers at a server with rules, at the same server without rules, and at the decision function alone. */
import { afterAll, beforeAll, describe } from 'vitest';
import type { AccessDecision, AccessRequest } from '../../../src/core/access.ts';
import { createContext } from '../../../src/core/context.ts';
import type { AccessOperation } from '../../../src/core/decided.ts';
import { rulesPolicy } from '../../../src/layers/access/index.ts';
import type { Resource } from '../../../src/protocol/resources.ts';
import { type HttpServing, serveHttp } from '../../../src/serving/http/index.ts';
import type { Vitrine } from '../../../src/vitrine.ts';
import { ERAS, type Era } from '../../e2e/harness.ts';
import { RESOURCE, startIssuer } from '../authorization-servers.ts';
import { type Ask, askerOf } from './asking.ts';
import type { Outcome } from './outcomes.ts';
import { makePlace } from './place.ts';
import { PEOPLE, type Person, principalOf, rulesFor, STATIC_TOKENS, tokenOf } from './rules.ts';

export type Data = Readonly<Record<string, unknown>>;

export interface Somebody {
  readonly person: Person;
  readonly token: string | undefined;
  readonly ask: Ask;
  /** Gives the decision of the policy about a request. */
  decide(request: Omit<AccessRequest, 'principal'>): AccessDecision;
  about(operation: AccessOperation, resource: Resource): AccessDecision;
  /** Whether lists show the resource. */
  sees(resource: Resource): boolean;
}

export interface Matrix {
  /** The engine without rules, its server, and the server with rules. */
  readonly bare: Vitrine;
  readonly open: HttpServing;
  readonly guarded: HttpServing;
  /** Gives the resource as the server without rules describes it. */
  lookedAt(uri: string): Promise<Resource | undefined>;
  everybody(era: Era): Promise<readonly Somebody[]>;
  /** Sends a request to the server without rules. */
  anybody(era: Era): Promise<Ask>;
  close(): Promise<void>;
}

async function openMatrix(): Promise<Matrix> {
  const place = await makePlace();
  const issuer = await startIssuer();
  const policy = rulesPolicy(rulesFor(issuer.origin));
  const bare = place.engine();
  const ruled = place.engine(rulesFor(issuer.origin));
  const open = await serveHttp(bare, { port: 0 });
  const guarded = await serveHttp(ruled, {
    port: 0,
    auth: { resource: RESOURCE, anonymous: true, tokens: STATIC_TOKENS, issuers: [{ issuer: issuer.origin }] },
  });
  const ctx = createContext();
  return {
    bare,
    open,
    guarded,
    lookedAt: (uri) => bare.provider.metadata(uri, ctx).catch(() => undefined),
    anybody: (era) => askerOf(open.url, era, undefined),
    everybody: (era) =>
      Promise.all(
        PEOPLE.map(async (person): Promise<Somebody> => {
          const token = await tokenOf(person, issuer.forge);
          const principal = principalOf(person, issuer.origin);
          const decide: Somebody['decide'] = (request) => policy.decide({ ...request, principal });
          const about: Somebody['about'] = (operation, resource) =>
            decide({ operation, uri: resource.uri, mount: bare.mountOf(resource.uri), resource });
          return {
            person,
            token,
            ask: await askerOf(guarded.url, era, token),
            decide,
            about,
            sees: (resource) => about('list', resource).effect === 'allow',
          };
        }),
      ),
    async close() {
      await Promise.all([open.close(), guarded.close()]);
      await Promise.all([bare.close(), ruled.close()]);
      await place[Symbol.asyncDispose]();
      await issuer[Symbol.asyncDispose]();
    },
  };
}

/** All callers at the matrix in one era. Only tests and hooks can use its members: the servers start after tests are defined. */
export interface EraScene {
  readonly era: Era;
  readonly matrix: Matrix;
  readonly people: readonly Somebody[];
  /** Sends a request to the server without rules. */
  readonly anybody: Ask;
}

/** Defines the tests of each era. The servers run until all tests of the file have ended. */
export function inEachEra(define: (scene: EraScene) => void): void {
  let matrix: Matrix;
  beforeAll(async () => {
    matrix = await openMatrix();
  });
  afterAll(() => matrix.close());

  describe.each(ERAS)('in the %s era', (era) => {
    let people: readonly Somebody[];
    let anybody: Ask;
    beforeAll(async () => {
      people = await matrix.everybody(era);
      anybody = await matrix.anybody(era);
    });
    define({
      era,
      get matrix() {
        return matrix;
      },
      get people() {
        return people;
      },
      get anybody() {
        return anybody;
      },
    });
  });
}

/** Runs the function for each of them, a few at a time. */
export async function inParallel<T>(all: readonly T[], run: (each: T) => Promise<void>): Promise<void> {
  const left = [...all].reverse();
  const worker = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await run(next);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** Counts cells by their expected outcomes, and collects those whose outcome is wrong. */
export interface Tally {
  readonly wrong: string[];
  readonly outcomes: Map<string, number>;
  add(cell: string, expected: Outcome, got: Outcome): void;
}

export function tally(): Tally {
  const wrong: string[] = [];
  const outcomes = new Map<string, number>();
  return {
    wrong,
    outcomes,
    add(cell, expected, got) {
      outcomes.set(expected, (outcomes.get(expected) ?? 0) + 1);
      if (expected !== got) wrong.push(`${cell}: ${got} instead of ${expected}`);
    },
  };
}

export const total = ({ outcomes }: Tally): number => [...outcomes.values()].reduce((sum, each) => sum + each, 0);
export const urisOf = (entries: unknown): string[] => (entries as readonly Resource[]).map(({ uri }) => uri);
