/** The tools, prompts and templates that a server offers a caller. */
import type { Effect } from './reference.ts';
import type { Scene } from './scene.ts';
import { TEMPLATES } from './sloppy-server.ts';
import { FOLDER_PROMPTS, type MountName } from './things.ts';

/** The names that tools and prompts have in these mounts. */
export const namesOf = (mounts: readonly MountName[], names: readonly string[]): readonly string[] => [
  ...(mounts.includes('up') ? names.map((name) => `up_${name}`) : []),
  ...(mounts.includes('raw') ? names : []),
];

/** Whether lists show a tool or prompt: it may be used, perhaps after a confirmation. */
export const isShown = (effect: Effect): boolean => effect === 'allow' || effect === 'ask';

/** The URI templates of these mounts. */
export const templates = (mounts: readonly MountName[]): readonly string[] => [
  ...(mounts.includes('docs') ? ['docs+memory:///{+path}'] : []),
  ...(mounts.includes('notes') ? ['note:///{+path}'] : []),
  ...(mounts.includes('data') ? ['data+sqlite:///people/{email}', 'data+sqlite:///parts/{region,code}'] : []),
  ...(mounts.includes('up') ? TEMPLATES.map((each) => `up+${each}`) : []),
  ...(mounts.includes('raw') ? TEMPLATES : []),
];

/** Decides about a prompt. A prompt of a folder is hidden unless the caller may list the folder, and list and read its file. */
export function promptEffect({ reference, things }: Scene, name: string): Effect {
  if (!FOLDER_PROMPTS.includes(name))
    return reference.decide({ operation: 'prompt', name, mount: reference.mountOfName(name) });
  const file = things.find(({ uri }) => uri === `docs+memory:///prompts/${name}.md`);
  const folder = things.find(({ uri }) => uri === 'docs+memory:///prompts');
  if (file === undefined || folder === undefined) throw new Error(`there is no file of ${name}`);
  const there = [reference.of('list', folder), reference.of('list', file), reference.of('read', file)];
  if (there.some((effect) => effect !== 'allow')) return 'hide';
  return reference.decide({ operation: 'prompt', name, mount: 'docs' });
}
