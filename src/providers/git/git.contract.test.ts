import { afterAll, describe, expect, it } from 'vitest';
import { checkLaw } from '../../testing/check-law.ts';
import { gitFixture, removeTemplates, wholeGitFixture } from '../../testing/git-fixture.ts';
import { PROVIDER_LAWS, providerContract } from '../../testing/provider-contract.ts';

afterAll(removeTemplates);

providerContract('git', (seed) => gitFixture(seed));

// Each leaf exists four times, so a few of each kind are enough.
const SOME = /^(?:readme|sizes|many\/(?:entry-0[0-3]|folder-0)|odd\/(?:with|%2F|~|it|日))/;

/** Laws that differ if there is more than HEAD. */
const ABOUT_REVISIONS = [
  /^a list has the direct/,
  /^pages of any/,
  /^every resource carries/,
  /^a read of a container gives/,
];
const laws = [
  ...ABOUT_REVISIONS,
  /^every URI is valid/,
  /^capabilities.subscribe/,
  /^templates are/,
  /^each completed/,
].map((name) => PROVIDER_LAWS.filter((law) => name.test(law.name)));

describe('git, with branches, tags and commits', () => {
  it.each(laws)('$name', async (law) => {
    const verdict = await checkLaw(law, (seed) =>
      wholeGitFixture(new Map([...seed].filter(([path]) => SOME.test(path)))),
    );
    expect(verdict).toEqual({ kind: 'held' });
  });
});
