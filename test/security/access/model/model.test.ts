/**
 * Random rules over everything that can be served, and random requests. The answers of a running server have to be those of a small
 * reference. `npm run access-model -- --cases 100000` runs more cases by hand.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERAS } from '../../../e2e/harness.ts';
import { forgetSent } from '../../../errors/sent.ts';
import { overHttp, type Reach, withoutNetwork } from './asking.ts';
import { type Case, cases } from './cases.ts';
import { problemsOf } from './checks.ts';
import { EXAMPLES } from './examples.ts';
import { LISTS, PROMPTS, type Question, TOOLS, WAYS } from './questions.ts';
import { MOUNT_NAMES, THINGS } from './things.ts';
import { makeWorld, type World } from './world.ts';

const numRuns = Number(process.env.VITRINE_ACCESS_CASES ?? 100);
/** The seed is the same each time, unless another one is given. */
const seed = Number(process.env.VITRINE_ACCESS_SEED ?? 14);

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

describe('the table of things', () => {
  const questions: readonly Question[] = [
    ...THINGS.flatMap((_, thing) =>
      WAYS.filter((way) => way !== 'tool search').map(
        (way): Question => ({ kind: 'way', way, ref: { thing, spelling: 'as it is', loudMount: false } }),
      ),
    ),
    ...LISTS.map((list): Question => ({ kind: 'list', list })),
    ...TOOLS.flatMap((tool) => [true, false].map((ofUp): Question => ({ kind: 'call', tool, ofUp, arguments: {} }))),
    ...PROMPTS.flatMap((prompt) => [true, false].map((ofUp): Question => ({ kind: 'prompt', prompt, ofUp }))),
    ...MOUNT_NAMES.flatMap((mount) =>
      [0, 1, 2].flatMap((template) =>
        [true, false].map(
          (later): Question => ({ kind: 'complete', mount, template, typed: '', later, known: later ? 'eu' : '' }),
        ),
      ),
    ),
    { kind: 'updates' },
  ];

  it.each(ERAS)('lists exactly the things that the server has if everything is allowed, in the %s era', async (era) => {
    const rules = { rules: [{ effect: 'allow' }], default: 'deny' } as const;
    for (const mounts of [
      ['docs', 'notes', 'data', 'up'],
      ['raw', 'up', 'docs'],
    ] as const)
      expect(await problemsOf(world, { mounts, rules, person: 0, era, pageSize: 100, questions })).toEqual([]);
  });
});

it('a mount that lists a resource of another mount does not reveal it to callers who may not see that resource', async () => {
  const rules = { rules: [{ effect: 'allow', mounts: ['raw'] }], default: 'deny' } as const;
  const questions = LISTS.map((list): Question => ({ kind: 'list', list }));
  for (const era of ERAS) {
    const given: Case = { mounts: ['raw', 'docs'], rules, person: 0, era, pageSize: 100, questions };
    expect(await problemsOf(world, given)).toEqual([]);
  }
});

/** One case in this many runs over HTTP. */
const OVER_HTTP = 20;

describe(`the model of access, ${numRuns} cases from seed ${seed}`, () => {
  const agrees = (reach: Reach, runs: number): Promise<void> =>
    fc.assert(
      fc
        .asyncProperty(cases, async (given) => {
          expect(await problemsOf(world, given, reach)).toEqual([]);
        })
        .afterEach(forgetSent),
      { numRuns: runs + EXAMPLES.length, seed, examples: [...EXAMPLES] },
    );

  it('agrees with the server without a network', () => agrees(withoutNetwork, numRuns), 36_000_000);

  it('agrees with the server over HTTP', () => agrees(overHttp, Math.ceil(numRuns / OVER_HTTP)), 36_000_000);
});
