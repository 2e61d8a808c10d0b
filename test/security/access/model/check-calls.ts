/** Checks calls of tools, and prompts: whether the caller may use them, and which resources their results contain. */
import type { Reply } from '../asking.ts';
import { outcomeOf } from '../outcomes.ts';
import { leaks } from './leaks.ts';
import { promptEffect } from './offered.ts';
import type { Question } from './questions.ts';
import { isNoMethod, OUTCOMES, type Scene } from './scene.ts';
import { FOLDER_PROMPTS, HANDED_OUT, type MountName, OWN_TOOLS } from './things.ts';

export async function checkCall(
  scene: Scene,
  { tool, ofUp, arguments: args }: Question & { kind: 'call' },
): Promise<readonly string[]> {
  const { reference, mounts, asker } = scene;
  const own = OWN_TOOLS.includes(tool);
  const name = own || !ofUp ? tool : `up_${tool}`;
  const mount = own ? undefined : ofUp ? 'up' : 'raw';
  if (mount !== undefined && !mounts.includes(mount)) return [];
  const reply = await asker.ask('tools/call', { name, arguments: args });
  const said = `tools/call ${name} ${JSON.stringify(args)}`;
  const found = leaks(scene, reply.text, 'read', [], true).map((leak) => `${said}: ${leak}`);
  const effect = reference.decide({ operation: 'call', name, mount, arguments: args });
  const got = outcomeOf(reply);
  if (got !== OUTCOMES[effect] && !(isNoMethod(reply) && effect !== 'allow'))
    return [...found, `${said}: ${got} instead of ${OUTCOMES[effect]}`];
  if (got === 'answered' && tool === 'embed')
    found.push(...handedOut(scene, mount, reply).map((each) => `${said}: ${each}`));
  return found;
}

/** Names the resources that the caller may read and that are missing in the result of a mounted server. */
function handedOut({ reference, things }: Scene, mount: MountName | undefined, reply: Reply): readonly string[] {
  return HANDED_OUT.flatMap((pattern) => {
    const start = pattern.replace(/#.*$/, '').replace('%65', 'e');
    const thing = things.find((each) => each.mount === mount && each.uri.replace(/^up\+/, '').startsWith(start));
    if (thing === undefined || pattern.includes('%')) return [];
    return reference.of('read', thing) === 'allow' && !reply.text.includes(thing.inText)
      ? [`without ${thing.listedAs}`]
      : [];
  });
}

export async function checkPrompt(
  scene: Scene,
  { kind, prompt, ofUp }: Question & { kind: 'prompt' | 'complete prompt' },
): Promise<readonly string[]> {
  const { mounts, asker } = scene;
  const own = FOLDER_PROMPTS.includes(prompt);
  const name = own || !ofUp ? prompt : `up_${prompt}`;
  const mount = own ? 'docs' : ofUp ? 'up' : 'raw';
  if (!mounts.includes(mount) || (own && kind === 'complete prompt')) return [];
  const reply =
    kind === 'prompt'
      ? await asker.ask('prompts/get', { name, arguments: {} })
      : await asker.ask('completion/complete', {
          ref: { type: 'ref/prompt', name },
          argument: { name: 'who', value: '' },
        });
  const said = `${kind} ${name}`;
  const found = leaks(scene, reply.text, 'read', [name], true).map((leak) => `${said}: ${leak}`);
  const effect = promptEffect(scene, name);
  const got = outcomeOf(reply);
  if (effect === 'allow' ? got !== 'answered' : got === 'answered')
    found.push(`${said}: ${got} instead of ${OUTCOMES[effect]}`);
  if (effect !== 'allow' && reply.text.includes('said by')) found.push(`${said}: with what it says`);
  if (got === 'answered' && prompt === 'brief' && kind === 'prompt')
    found.push(...handedOut(scene, mount, reply).map((each) => `${said}: ${each}`));
  return found;
}
