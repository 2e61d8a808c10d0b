/** `vitrine ls`: lists resources. */
import { ResourceClientError } from '../../client/errors.ts';
import { newReport } from '../../client/paging.ts';
import { isListable, type ListedResource } from '../../client/shapes.ts';
import type { Secrets } from '../../config/secrets.ts';
import { EXIT_OK } from './exit-codes.ts';
import { countOf } from './printing/numbers.ts';
import { safe } from './printing/output.ts';
import { longRow, painted } from './printing/rows.ts';
import { onServer, type ServerFlags, type Session } from './reaching/connect.ts';
import { tellWithoutResources } from './reaching/without-resources.ts';
import { topOf, urisOf } from './references.ts';
import { tellList, tellWalk } from './stops.ts';

export interface LsFlags extends ServerFlags {
  readonly long?: boolean;
  readonly recursive?: boolean;
  /** Prints the server's whole default list, which hosts get, instead of its top level. */
  readonly all?: boolean;
  readonly maxResources?: string;
  readonly maxDepth?: string;
}

/** The default limit of resources. */
const DEFAULT_MAX_RESOURCES = 10_000;
const DEFAULT_MAX_DEPTH = 32;

/** Lists resources. Exits with `EXIT_INCOMPLETE` if a list stopped early. */
export const ls = (server: string, references: readonly string[], flags: LsFlags, secrets: Secrets): Promise<void> =>
  onServer(server, flags, secrets, async (session) => {
    const maxResources = countOf(flags.maxResources, '--max-resources', DEFAULT_MAX_RESOURCES);
    const maxDepth = countOf(flags.maxDepth, '--max-depth', DEFAULT_MAX_DEPTH);
    const wanted = wantedLimits(flags);
    const empty = await tellWithoutResources(session);
    const uris = empty ? [] : await urisOf(references, session);
    const statuses: number[] = [];
    const rows = async function* (): AsyncGenerator<ListedResource> {
      if (empty) return;
      for (const uri of uris.length === 0 ? [undefined] : uris) {
        const listed =
          flags.recursive === true
            ? walked(uri, { maxResources, maxDepth }, wanted, session)
            : flags.all === true && uri === undefined
              ? listedOf(undefined, maxResources, wanted, session)
              : uri === undefined
                ? topLevel(maxResources, wanted, session)
                : listedOf(uri, maxResources, wanted, session);
        statuses.push(yield* listed);
      }
    };
    const { output } = session;
    await output.list(rows(), (resource) =>
      flags.long === true ? longRow(resource, output) : painted(resource, safe(resource.uri), output),
    );
    return Math.max(EXIT_OK, ...statuses);
  });

type Rows = AsyncGenerator<ListedResource, number, undefined>;

/** Returns the limits that the user typed: reaching one of them is not a failure. */
export const wantedLimits = (flags: {
  readonly maxResources?: string;
  readonly maxDepth?: string;
}): ReadonlySet<string> =>
  new Set([
    ...(flags.maxResources === undefined ? [] : ['max-resources']),
    ...(flags.maxDepth === undefined ? [] : ['max-depth']),
  ]);

/** Lists the children of the only root. If there are several roots or none, it lists the resources at the top. */
async function* topLevel(maxResources: number, wanted: ReadonlySet<string>, session: Session): Rows {
  const top = await topOf(session);
  const { truncatedBy } = top;
  const [only, ...others] = top.resources;
  if (only !== undefined && others.length === 0 && truncatedBy === undefined && isListable(only) === true)
    return yield* listedOf(only.uri, maxResources, wanted, session);
  const { output } = session;
  yield* top.resources.slice(0, maxResources);
  const stopped = top.resources.length > maxResources ? 'max-resources' : top.stopped;
  return tellList({ ...newReport(), stopped, truncatedBy }, output, wanted);
}

/** Lists the children of a resource; a resource without children is listed itself, as `ls` lists a file. */
async function* listedOf(
  uri: string | undefined,
  maxResources: number,
  wanted: ReadonlySet<string>,
  { resources, output, signal }: Session,
): Rows {
  const listing = resources.list(uri, { signal, maxResources });
  let count = 0;
  try {
    for await (const resource of listing) {
      output.progress(++count % 100 === 0 ? `${count} resources` : undefined);
      yield resource;
    }
  } catch (error) {
    if (uri === undefined || !(error instanceof ResourceClientError) || error.code !== 'not-listable') throw error;
    yield (await resources.metadata(uri, { signal })).resource;
    return EXIT_OK;
  }
  return tellList(listing.report, output, wanted);
}

async function* walked(
  uri: string | undefined,
  limits: { readonly maxResources: number; readonly maxDepth: number },
  wanted: ReadonlySet<string>,
  { resources, output, signal }: Session,
): Rows {
  const walk = resources.walk(uri, { ...limits, signal });
  for await (const { resource } of walk) yield resource;
  return tellWalk(walk.report, output, wanted);
}
