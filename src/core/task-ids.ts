/**
 * Makes the ids under which clients know the tasks of mounted servers: `{mount}_{sealed}`. The sealed part contains the mounted
 * server's own id and the tool that began the task. The mount and the principal are the associated data, so that nobody else can
 * use the id. Vitrine keeps no state for it: a client finds its task after a restart, and on another replica with a common key.
 *
 * A task has the same id each time, in lists and notifications too, because the nonce is a digest of the sealed content
 * (`docs/decisions/0044-tasks.md`).
 */
import { invalid, type ResourceError } from './errors.ts';
import { createSeal, type Keys, unsealable } from './keys.ts';

/** A task, with the id that its own server uses. */
export interface TaskRef {
  readonly mount: string;
  /** The published name of the tool that began the task. */
  readonly name: string;
  readonly taskId: string;
}

export interface TaskIds {
  seal(task: TaskRef, principal: string): string;
  /** @throws ResourceError `invalid` for an id that was not sealed for this principal; the error does not tell the reason */
  open(id: string, principal: string): TaskRef;
}

export const noSuchTask = (): ResourceError =>
  invalid('There is no such task: its id is not valid for you, or it has expired; call the tool again');

/** @param keys shared by replicas. Default: a random key, so that ids are valid for this process only */
export function createTaskIds(keys?: Keys): TaskIds {
  const { seal, open } = createSeal(keys, 'vitrine task id v1', { nonce: 'vitrine task nonce v1' });
  const boundTo = (mount: string, principal: string): Buffer => Buffer.from(JSON.stringify([mount, principal]));

  return {
    seal({ mount, name, taskId }, principal) {
      const sealed = seal(Buffer.from(JSON.stringify([name, taskId])), boundTo(mount, principal));
      return `${mount}_${sealed.toString('base64url')}`;
    },

    open(id, principal) {
      // A mount's name has no underscore, so the first one ends it.
      const [mount = ''] = id.split('_', 1);
      const sealed = unsealable(id.slice(mount.length + 1));
      const plain = sealed && open(sealed, boundTo(mount, principal));
      if (plain === undefined) throw noSuchTask();
      const [name, taskId] = JSON.parse(plain.toString()) as readonly [string, string];
      return { mount, name, taskId };
    },
  };
}
