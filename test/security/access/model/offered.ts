/** Names of what is offered beside resources, and what is said of them. */
import type { Effect } from './reference.ts';
import type { Scene } from './scene.ts';
import { TEMPLATES } from './sloppy-server.ts';
import { FOLDER_PROMPTS, type MountName } from './things.ts';

/** Under the names that they have where these mounts are. */
export const namesOf = (mounts: readonly MountName[], names: readonly string[]): readonly string[] => [
  ...(mounts.includes('up') ? names.map((name) => `up_${name}`) : []),
  ...(mounts.includes('raw') ? names : []),
];

/** A resource that a human is asked about is there to be used. */
export const isShown = (effect: Effect): boolean => effect === 'allow' || effect === 'ask';

/** The URI templates of these mounts. */
export const templates = (mounts: readonly MountName[]): readonly string[] => [
  ...(mounts.includes('docs') ? ['docs+memory:///{+path}'] : []),
  ...(mounts.includes('notes') ? ['note:///{+path}'] : []),
  ...(mounts.includes('data') ? ['data+sqlite:///people/{email}', 'data+sqlite:///parts/{region,code}'] : []),
  ...(mounts.includes('up') ? TEMPLATES.map((each) => `up+${each}`) : []),
  ...(mounts.includes('raw') ? TEMPLATES : []),
];

/** Prompts of a folder are there for whoever may list and read their files. */
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
