/**
 * Pins the definitions of a mounted server's tools and prompts: a file keeps them as Vitrine first saw them. A definition
 * that has changed since is neither listed nor called until somebody reviews it. It is not listed in its old form either,
 * because that would offer a tool that a model cannot call, under a description that the server no longer gives.
 */

import type { Data } from '../../../connection/data.ts';
import { type Context, type Log, withSignal } from '../../../core/context.ts';
import { ResourceError } from '../../../core/errors.ts';
import { changedFields, pinOf } from '../../../core/fingerprint.ts';
import { createSharedWork } from '../../../core/waiting/shared-work.ts';
import {
  type Accepted,
  accepting,
  changing,
  createAccepted,
  PIN_KINDS,
  type PinKind,
  readAccepted,
  stampOf,
  textOf,
  writeAccepted,
} from './file.ts';

export type { PinKind } from './file.ts';

/** A definition that is not as it was accepted, or is no longer there. */
export interface PinChange {
  readonly kind: PinKind;
  readonly name: string;
  readonly before: Data | undefined;
  readonly now: Data | undefined;
}

/** How a server's definitions differ from the accepted ones. */
export interface PinReview {
  /** Whether nothing was accepted yet. */
  readonly first: boolean;
  /** In order: tools before prompts, by name. */
  readonly changes: readonly PinChange[];
  /** Accepts the definitions of this review, not later ones. @throws ResourceError `limited` if the file has changed since */
  accept(): Promise<void>;
}

export interface Pins {
  /** Returns what is wrong with a definition; undefined if it is as it was accepted. */
  objection(kind: PinKind, definition: Data, ctx: Context): Promise<string | undefined>;
  /**
   * Checks the present definition before it is used.
   * @throws ResourceError `denied` if it is not as it was accepted, or if the server does not list it
   */
  admit(kind: PinKind, name: string, ctx: Context): Promise<void>;
  review(ctx: Context): Promise<PinReview>;
}

export interface PinOptions {
  readonly mount: string;
  /** The path of the file. */
  readonly file: string;
  readonly log: Log;
  /** Returns all valid definitions of the server, as it sent them. */
  readonly list: (kind: PinKind, ctx: Context) => Promise<readonly Data[]>;
}

const WORDS: Readonly<Record<PinKind, string>> = { tools: 'tool', prompts: 'prompt' };

export function createPins({ mount, file, log, list }: PinOptions): Pins {
  let read: { readonly stamp: string; readonly accepted: Accepted } | undefined;
  const seeing = createSharedWork<'first'>();
  const looking = createSharedWork<string>();

  /** Returns the accepted definitions as the file has them now, so that a review by another process counts at once. */
  async function accepted(ctx: Context): Promise<Accepted> {
    for (let attempt = 1; ; attempt++) {
      const stamp = await stampOf(file);
      if (stamp !== undefined && read?.stamp === stamp) return read.accepted;
      const found = await readAccepted(file);
      if (found !== undefined && stamp !== undefined) {
        read = { stamp, accepted: found };
        return found;
      }
      if (attempt > 3)
        throw new ResourceError('unavailable', `The pins of "${mount}" cannot be kept; look at its file`);
      await seeing.run('first', ctx.signal, (signal) => firstSight(withSignal({ ...ctx, notes: undefined }, signal)));
    }
  }

  async function firstSight(ctx: Context): Promise<void> {
    const [tools, prompts] = await Promise.all([list('tools', ctx), list('prompts', ctx)]);
    if (!(await createAccepted(file, mount, await accepting({ tools, prompts })))) return;
    log.info('definitions of a mounted server are fixed as they are now; review and commit the file', {
      mount,
      tools: tools.length,
      prompts: prompts.length,
    });
  }

  async function objection(kind: PinKind, definition: Data, ctx: Context): Promise<string | undefined> {
    const pinned = (await accepted(ctx))[kind].get(String(definition.name));
    if (pinned === undefined) return 'it has not been accepted; look at it with vitrine pins review';
    const now = await pinOf(definition);
    if (now.hash === pinned.hash) return undefined;
    const fields = changedFields(await pinOf(pinned.definition), now).join(', ');
    return `it is not as it was accepted (${fields || 'its pin'}); look at it with vitrine pins review`;
  }

  /** Returns the present definitions, listed once for all requests of a client that need them at the same time. */
  const current = (kind: PinKind, ctx: Context): Promise<readonly Data[]> =>
    looking.run(JSON.stringify([kind, ctx.principal.id, ctx.peer]), ctx.signal, (signal) =>
      list(kind, withSignal({ ...ctx, notes: undefined }, signal)),
    );

  return {
    objection,

    async admit(kind, name, ctx) {
      const matching = (await current(kind, ctx)).filter((definition) => definition.name === name);
      const refuse = (problem: string): never => {
        log.warn('a mounted server is not asked: its definition is not as it was accepted', {
          mount,
          kind,
          name,
          problem,
        });
        throw new ResourceError('denied', `The ${WORDS[kind]} ${JSON.stringify(name)} cannot be used: ${problem}`);
      };
      if (matching.length === 0) return refuse('the server does not list it');
      for (const definition of matching) {
        const problem = await objection(kind, definition, ctx);
        if (problem !== undefined) return refuse(problem);
      }
    },

    async review(ctx) {
      const before = await readAccepted(file);
      const definitions = { tools: await list('tools', ctx), prompts: await list('prompts', ctx) };
      const now = await accepting(definitions);
      const changes = PIN_KINDS.flatMap((kind) => {
        const names = new Set([...(before?.[kind].keys() ?? []), ...now[kind].keys()]);
        return [...names].sort().flatMap((name): PinChange[] => {
          const [old, fresh] = [before?.[kind].get(name), now[kind].get(name)];
          return old?.hash === fresh?.hash ? [] : [{ kind, name, before: old?.definition, now: fresh?.definition }];
        });
      });
      const seen = before === undefined ? undefined : textOf(mount, before);
      return {
        first: before === undefined,
        changes,
        accept: () =>
          changing(file, async () => {
            const onDisk = await readAccepted(file);
            if ((onDisk === undefined ? undefined : textOf(mount, onDisk)) !== seen) {
              throw new ResourceError('limited', `The pins of "${mount}" have changed meanwhile; review them again`);
            }
            await writeAccepted(file, mount, now);
          }),
      };
    },
  };
}
