/**
 * Sends requests of every method to one server, and compares the answers with the reference. No byte of an answer may belong to
 * something forbidden, and everything that is allowed has to arrive.
 */
import { z } from 'zod';
import { createVitrine } from '../../../../src/vitrine.ts';
import { type Reach, withoutNetwork } from './asking.ts';
import type { Case } from './cases.ts';
import { checkCall, checkPrompt } from './check-calls.ts';
import { checkCompletion } from './check-completions.ts';
import { checkList } from './check-lists.ts';
import { checkUpdates } from './check-updates.ts';
import { checkWay } from './check-ways.ts';
import type { Question } from './questions.ts';
import { createReference } from './reference.ts';
import type { Scene } from './scene.ts';
import { isImitation, OWN_TOOLS, PEOPLE, THINGS } from './things.ts';
import type { World } from './world.ts';

/** Accepts any arguments. It is not JSON Schema, which would compile its own meta-schema for each server. */
const ANYTHING = z.looseObject({});

/** Gives the mistakes in all answers of a case; an empty list if there are none. */
export async function problemsOf(world: World, given: Case, reach: Reach = withoutNetwork): Promise<readonly string[]> {
  const person = PEOPLE[given.person];
  if (person === undefined) throw new Error('there is no such person');
  const { mounts, docs } = world.mounts(given.mounts);
  const vitrine = createVitrine({
    mounts,
    access: given.rules,
    limits: { pageSize: given.pageSize, rates: { principal: 'off', anonymous: 'off' } },
    changes: { coalesceMs: 1 },
    resourceTools: { prefix: 'at' },
    promptFolders: [{ uri: 'docs+memory:///prompts' }],
    tools: OWN_TOOLS.map((name) => ({ name, inputSchema: ANYTHING, run: () => `said by ${name}` })),
  });
  try {
    const asker = await reach(vitrine, person, given.era);
    try {
      const scene: Scene = {
        asker,
        mounts: given.mounts,
        reference: createReference(given.rules, person, given.mounts),
        things: THINGS.filter((thing) => given.mounts.includes(thing.mount) && !isImitation(thing)),
        touch: ({ uri, inText, inTitle }, mimeType) =>
          docs.set(uri.slice('docs+memory:///'.length).split('/').map(decodeURIComponent).join('/'), {
            text: inText,
            mimeType,
            ...(inTitle !== '' && { title: inTitle }),
          }),
      };
      const found: string[] = [];
      for (const question of given.questions) found.push(...(await answered(scene, question)));
      return found;
    } finally {
      await asker[Symbol.asyncDispose]();
    }
  } finally {
    await vitrine.close();
  }
}

async function answered(scene: Scene, question: Question): Promise<readonly string[]> {
  switch (question.kind) {
    case 'way':
      return checkWay(scene, question.way, question.ref);
    case 'list':
      return checkList(scene, question.list);
    case 'call':
      return checkCall(scene, question);
    case 'prompt':
    case 'complete prompt':
      return checkPrompt(scene, question);
    case 'complete':
      return checkCompletion(scene, question);
    case 'updates':
      return checkUpdates(scene);
  }
}
