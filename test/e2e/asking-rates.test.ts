/** A request that asks its client something counts once in rates. In the 2026 era each answer comes with a request of its own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure } from './answers.ts';
import { askable, type Decision } from './asked.ts';
import { call, text } from './asking.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { connect, MATRIX } from './harness.ts';

const PLAN = 'docs+file:///private/plan.md';
/** How often a method, and a tool, may be called. */
const MOST = 4;

let folder: Folder;
let args: readonly string[];

beforeAll(async () => {
  folder = await temporaryFolder({ 'docs/open.md': 'open', 'docs/private/plan.md': 'the plan' });
  const rates = { methods: { 'resources/read': `${MOST}/h` }, tools: { read: `${MOST}/h` } };
  const config = { mounts: { docs: './docs' }, confirm: ['docs+file:///private/**'], limits: { rates } };
  args = ['--config', await writeConfig(folder, config)];
});
afterAll(() => folder?.[Symbol.asyncDispose]());

describe.each(MATRIX)('a server over $transport with a client of the $era era', ({ transport, era }) => {
  const each = era === 'legacy' ? 1 : 2;

  it.each<Decision>(['accept', 'decline'])('counts a read once if its user says: %s', async (decision) => {
    const { abilities, questions } = askable({ user: () => decision });
    await using on = await connect(transport, era, args, abilities);
    for (let read = 0; read < MOST / each; read++) {
      const got = text(on, PLAN);
      if (decision === 'accept') expect(await got).toBe('the plan');
      else expect(await failure(got)).toMatchObject({ code: -32_602 });
    }
    expect(questions).toHaveLength(MOST / each);
    const refused = { data: { reason: 'limited', limit: 'rates.methods.resources/read' } };
    expect(await failure(text(on, PLAN))).toMatchObject(refused);
    expect(await failure(text(on, 'docs+file:///open.md'))).toMatchObject(refused);
    expect(questions).toHaveLength(MOST / each);
  });

  it('counts a call of a tool once', async () => {
    const { abilities, questions } = askable({ user: () => 'accept' });
    await using on = await connect(transport, era, args, abilities);
    for (let turn = 0; turn < MOST / each; turn++)
      expect(JSON.stringify(await call(on, 'read', { uri: PLAN }))).toContain('the plan');
    expect(await failure(call(on, 'read', { uri: PLAN }))).toMatchObject({
      data: { reason: 'limited', limit: 'rates.tools.read' },
    });
    expect(questions).toHaveLength(MOST / each);
  });

  it('does not let a user say yes in vain: the last request within a rate is answered', async () => {
    const { abilities } = askable({ user: () => 'accept' });
    await using on = await connect(transport, era, args, abilities);
    for (let read = 0; read < MOST - each; read++) expect(await text(on, 'docs+file:///open.md')).toBe('open');
    expect(await text(on, PLAN)).toBe('the plan');
  });
});
