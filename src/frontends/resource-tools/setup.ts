/** The options of the resource tools, and the parts that they work with. */
import type { AccessOutline } from '../../core/access.ts';
import type { Mount } from '../../core/mounts/mount.ts';
import type { Resolver } from '../../core/mounts/resolver.ts';
import type { NamedOperations } from '../../core/operations.ts';
import type { RankedSearch } from '../../core/ranked.ts';
import type { ResourceOptions } from '../resources/options.ts';
import type { ToolName } from './names.ts';
import type { SubscriptionBook } from './subscribing/book.ts';

export interface ResourceToolOptions {
  /** Goes before each tool's name with an underscore, as in `docs_read`. */
  readonly prefix?: string | undefined;
  /**
   * Bytes of content that a tool puts into a model's context, unless the call names another limit. At least 1,000. Default:
   * 25,000.
   */
  readonly outputBytes?: number | undefined;
  /** `read`: only the tools that list, search and read. Default: `all`, which adds `summarize` and the subscription tools. */
  readonly offer?: 'all' | 'read' | undefined;
  /** Whether each tool has an icon. Default: `true`. */
  readonly icons?: boolean | undefined;
}

export const DEFAULT_OUTPUT_BYTES = 25_000;

/** The parts of the engine that the resource tools work with. */
export interface ResourceToolContext {
  readonly resources: ResourceOptions;
  readonly operations: Pick<NamedOperations, 'subscribe' | 'listSkills' | 'getSkill'>;
  /** Whether there are skills now. Default: there are none. */
  readonly hasSkills?: (() => boolean) | undefined;
  readonly mounts: readonly Mount[];
  readonly resolver: Resolver;
  /** Decides which mounts a caller may know of. Default: all. */
  readonly access?: AccessOutline | undefined;
  /** Ranked search; undefined where there is no index. */
  readonly ranked?: (() => RankedSearch | undefined) | undefined;
  /** The subscriptions that clients have made with the subscription tools. */
  readonly subscriptions: SubscriptionBook;
  /** Whether replicas answer in turn. Then there are no subscription tools, since each replica knows only its own subscriptions. */
  readonly shared?: boolean | undefined;
}

/** The parts, output limit and names that each tool works with. */
export interface ToolSetup extends ResourceToolContext {
  /** Bytes that an answer may put into a model's context, unless the call names another limit. */
  readonly outputBytes: number;
  /** The name under which a tool is listed, prefix included. */
  readonly nameOf: (tool: ToolName) => string;
}

/** Writes a tool call in a form that a model can copy: `read {"uri":"docs+file:///a.md"}`. */
export function callOf(setup: ToolSetup, tool: ToolName, args: Readonly<Record<string, unknown>>): string {
  return `${setup.nameOf(tool)} ${JSON.stringify(args)}`;
}
