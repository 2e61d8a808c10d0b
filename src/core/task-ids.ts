/**
 * Ids of tasks of mounted servers, as clients hold them: `{mount}_{sealed}`. What is sealed is the server's own id and the tool
 * that began the task; the mount and the principal are the associated data, so that an id is good for nobody else. The server
 * keeps no state for it: whoever comes back after a restart, or to another replica with a common key, finds the task.
 *
 * The same task has the same id each time, in lists and notifications too: the nonce is a digest of what is sealed
 * (`docs/decisions/0044-tasks.md`).
 */
import { invalid, type ResourceError } from './errors.ts';
import { createSeal, type Keys, unsealable } from './keys.ts';

/** A task, with the id that its own server uses. */
export interface TaskRef {
  readonly mount: string;
  /** The tool that began it, as it is published. */
  readonly name: string;
  readonly taskId: string;
}

export interface TaskIds {
  seal(task: TaskRef, principal: string): string;
  /** @throws ResourceError `invalid` for an id that is not one of this principal's; the error does not say why */
  open(id: string, principal: string): TaskRef;
}

export const noSuchTask = (): ResourceError =>
  invalid('There is no such task: its id is not valid for you, or it has expired; call the tool again');

/** @param keys shared by replicas. When they are left out, ids are valid for this process only */
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
