/** Commands use policies in Cedar, explain their decisions, and report mistakes in them with their places. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { askable } from '../e2e/asked.ts';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { connectStdio, ERAS } from '../e2e/harness.ts';
import { vitrine } from './here.ts';

const POLICIES = `@id("people read")
permit(principal, action, resource in Vitrine::Mount::"docs");
@id("plans need a yes") @effect("ask") @remember("600")
permit(principal, action == Vitrine::Action::"read", resource)
when { resource.uri like "*/plan.md" };
@id("secrets") @effect("hide")
forbid(principal, action, resource) when { resource has name && resource.name == "secret.md" }
unless { principal in Vitrine::Group::"all" };
`;
const ENTITIES = [
  {
    uid: { type: 'Vitrine::Group', id: 'staff' },
    attrs: {},
    parents: [{ type: 'Vitrine::Group', id: 'all' }],
  },
];

let folder: Folder;

beforeEach(async () => {
  folder = await temporaryFolder({
    'docs/open.md': 'open',
    'docs/plan.md': 'the plan',
    'docs/secret.md': 'secret',
    'my.cedar': POLICIES,
    'my.json': JSON.stringify(ENTITIES),
  });
});
afterEach(() => folder[Symbol.asyncDispose]());

const configured = (): Promise<string> =>
  writeConfig(folder, {
    access: { cedar: { policies: 'my.cedar', entities: 'my.json' } },
    mounts: { docs: './docs' },
  });

it.each(ERAS)('vitrine serve decides by the policies, %s [SEC-RES-2]', async (era) => {
  const { abilities, questions } = askable({ user: () => 'accept' });
  await using on = await connectStdio(era, ['--config', await configured()], abilities);
  const text = async (name: string): Promise<string | undefined> => {
    const { contents } = await on.client.readResource({ uri: `docs+file:///${name}` });
    return contents.flatMap((each) => ('text' in each ? [each.text] : []))[0];
  };
  expect(await text('open.md')).toBe('open');
  expect(await text('plan.md')).toBe('the plan');
  expect(questions).toEqual(['May this be read? docs+file:///plan.md']);
  await expect(text('secret.md')).rejects.toThrow('Resource not found');
});

it('vitrine explain prints the decisions, and the policies that decide', async () => {
  const config = await configured();
  const explain = (...args: readonly string[]) => vitrine(['explain', ...args, '--config', config]);
  const secret = await explain('docs+file:///secret.md', '--operation', 'read', '--as', 'anna');
  expect(secret.stdout).toContain('read      hide    secrets\n');
  const plan = await explain('docs+file:///plan.md', '--operation', 'read', '--as', 'anonymous');
  expect(plan.stdout).toContain('read      ask     plans need a yes\n  also    allow   people read\n');
});

it('vitrine check says where a policy is broken', async () => {
  await folder.write('my.cedar', `${POLICIES}\npermit(principal, action, resource) when { resources.name == "x" };\n`);
  const { status, stderr } = await vitrine(['check', '--config', await configured()]);
  expect(`${status}: ${stderr}`).toMatch(/^2: .*my\.cedar:10:44: invalid member access `resources\.name`/);
});
