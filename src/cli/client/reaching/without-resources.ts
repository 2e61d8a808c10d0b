/** Reports the tools and prompts of a server without resources, instead of an empty list. */

import { definitions } from '../definitions.ts';
import type { Session } from './connect.ts';

/** Prints how many tools and prompts a server without resources has. @returns whether the server has no resources */
export async function tellWithoutResources(session: Session): Promise<boolean> {
  const { facts, label, output } = session;
  if (facts.capabilities.resources !== undefined) return false;
  const kinds = (['tools', 'prompts'] as const).filter((kind) => facts.capabilities[kind] !== undefined);
  const counts: string[] = [];
  for (const kind of kinds) {
    let count = 0;
    for await (const _ of definitions(kind, session)) count++;
    counts.push(`${count} ${count === 1 ? kind.slice(0, -1) : kind}`);
  }
  const instead = kinds[0] === undefined ? '' : `, but ${counts.join(' and ')}; see vitrine ${kinds[0]} --help`;
  output.note(`${label} has no resources${instead}`);
  return true;
}
