/** `vitrine tree`: draws resources as a tree. */
import { identityOf, isListable } from '../../client/shapes.ts';
import type { WalkEntry } from '../../client/walk.ts';
import type { Secrets } from '../../config/secrets.ts';
import { EXIT_OK } from './exit-codes.ts';
import { wantedLimits } from './ls.ts';
import { countOf } from './printing/numbers.ts';
import { type Output, safe } from './printing/output.ts';
import { painted, sizeText, titleText } from './printing/rows.ts';
import { onServer, type ServerFlags, type Session } from './reaching/connect.ts';
import { tellWithoutResources } from './reaching/without-resources.ts';
import { urisOf } from './references.ts';
import { tellWalk } from './stops.ts';

export interface TreeFlags extends ServerFlags {
  /** Shows sizes before the names. */
  readonly long?: boolean;
  /** Shows URIs instead of names. */
  readonly uris?: boolean;
  readonly maxResources?: string;
  readonly maxDepth?: string;
}

/** Prints a tree of resources. Exits with `EXIT_INCOMPLETE` if the walk stopped early. */
export const tree = (
  server: string,
  reference: string | undefined,
  flags: TreeFlags,
  secrets: Secrets,
): Promise<void> =>
  onServer(server, flags, secrets, async (session) => {
    const { resources, output, signal } = session;
    const maxResources = countOf(flags.maxResources, '--max-resources', 10_000);
    const maxDepth = countOf(flags.maxDepth, '--max-depth', 32);
    if (await tellWithoutResources(session)) {
      if (output.form !== 'human') await output.list([], () => undefined);
      return EXIT_OK;
    }
    const [start] = await urisOf(reference === undefined ? [] : [reference], session);
    const walk = resources.walk(start, { maxResources, maxDepth, signal });
    const found = counted(walk, output);
    if (output.form === 'human') await drawn(start, found, flags, session);
    else await output.list(found, () => undefined);
    return tellWalk(walk.report, output, wantedLimits(flags));
  });

async function* counted(walk: AsyncIterable<WalkEntry>, output: Output): AsyncGenerator<WalkEntry, void, undefined> {
  let count = 0;
  for await (const entry of walk) {
    if (++count % 100 === 0) output.progress(`${count} resources`);
    yield entry;
  }
}

/** Draws the tree after the whole walk, because a walk goes level by level, and a drawing branch by branch. */
async function drawn(
  start: string | undefined,
  entries: AsyncIterable<WalkEntry>,
  flags: TreeFlags,
  { output, label }: Session,
): Promise<void> {
  const children = new Map<string, WalkEntry[]>();
  let folders = 0;
  let others = 0;
  for await (const entry of entries) {
    const parent = entry.parent === undefined ? '' : identityOf(entry.parent);
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [entry]);
    else siblings.push(entry);
    if (isListable(entry.resource) === true) folders++;
    else others++;
  }
  const shown = ({ resource }: WalkEntry): string => {
    const name = painted(resource, flags.uris === true ? safe(resource.uri) : titleText(resource), output);
    return flags.long === true ? `${output.paint('green', sizeText(resource.size).padStart(5))}  ${name}` : name;
  };
  await output.line(output.paint('bold', safe(start ?? label)));
  // Avoids recursion, since a tree may have any depth.
  type Level = { readonly entries: readonly WalkEntry[]; at: number; readonly indent: string };
  const stack: Level[] = [
    { entries: children.get(start === undefined ? '' : identityOf(start)) ?? [], at: 0, indent: '' },
  ];
  for (let level = stack.at(-1); level !== undefined; level = stack.at(-1)) {
    const entry = level.entries[level.at++];
    if (entry === undefined) {
      stack.pop();
      continue;
    }
    const last = level.at === level.entries.length;
    await output.line(`${output.paint('dim', `${level.indent}${last ? '└── ' : '├── '}`)}${shown(entry)}`);
    const inner = children.get(identityOf(entry.resource.uri));
    if (inner === undefined) continue;
    stack.push({ entries: inner, at: 0, indent: `${level.indent}${last ? '    ' : '│   '}` });
  }
  await output.line(
    `\n${folders} ${folders === 1 ? 'folder' : 'folders'}, ${others} ${others === 1 ? 'resource' : 'resources'}`,
  );
}
