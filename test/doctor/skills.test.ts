/** The doctor finds no problem in the official SDK's catalogue of skills. */
import { expect, it } from 'vitest';
import { SKILL_CHECKS } from '../../src/cli/client/doctor/checks/skills.ts';
import { diagnose } from '../../src/cli/client/doctor/diagnose.ts';
import { serveCatalogue } from '../client/skills/catalogue.ts';

it("the doctor finds nothing wrong with the SDK's skills, in either era", async () => {
  await using server = await serveCatalogue();
  const only = SKILL_CHECKS.map(({ id }) => id);
  const { results } = await diagnose({ url: server.url }, { only, timeoutMs: 20_000 });
  expect(results.map(({ id, status, saw }) => [id, status, ...saw])).toEqual(
    ['legacy', 'modern'].flatMap(() =>
      only.map((id) => (id === 'skill-files' ? [id, 'ok', '7 were read'] : [id, 'ok'])),
    ),
  );
});
