/**
 * Ids of tasks of mounted servers, as clients hold them: `{mount}_{sealed}`. What is sealed is the server's own id and the tool
 * that began the task; the mount and the principal are the associated data, so that an id is good for nobody else. The server
 * keeps no state for it: whoever comes back after a restart, or to another replica with the same secret, finds the task.
 *
 * The same task has the same id each time, in lists and notifications too: the nonce is a digest of what is sealed
 * (`docs/decisions/0044-tasks.md`).
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { invalid, type ResourceError } from './errors.ts';

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

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export const noSuchTask = (): ResourceError =>
  invalid('There is no such task: its id is not valid for you, or it has expired; call the tool again');

/** @param secret shared by replicas. When it is left out, it is random, and ids are valid for this process only */
export function createTaskIds(secret: Uint8Array = randomBytes(32)): TaskIds {
  const keyFor = (use: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', `vitrine task ${use} v1`, 32));
  const key = keyFor('id');
  const nonceKey = keyFor('nonce');
  const boundTo = (mount: string, principal: string): Buffer => Buffer.from(JSON.stringify([mount, principal]));

  return {
    seal({ mount, name, taskId }, principal) {
      const bound = boundTo(mount, principal);
      const plain = Buffer.from(JSON.stringify([name, taskId]));
      const nonce = createHmac('sha256', nonceKey).update(bound).update(plain).digest().subarray(0, NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      cipher.setAAD(bound);
      const sealed = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      return `${mount}_${sealed.toString('base64url')}`;
    },

    open(id, principal) {
      // A mount's name has no underscore, so the first one ends it.
      const [mount = ''] = id.split('_', 1);
      const text = id.slice(mount.length + 1);
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.byteLength < NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) throw noSuchTask();
      try {
        const options = { authTagLength: TAG_BYTES };
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), options);
        decipher.setAAD(boundTo(mount, principal));
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        const plain = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
        const [name, taskId] = JSON.parse(plain.toString()) as readonly [string, string];
        return { mount, name, taskId };
      } catch {
        throw noSuchTask();
      }
    },
  };
}
