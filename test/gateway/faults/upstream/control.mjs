/** A test tells the server what to do, and the server tells the test what it did, by files of one folder. */
import { appendFileSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {object} Fault
 * @property {string} [kind] none: the server is well
 * @property {string} [id] of this fault, for what happens once
 * @property {string[]} [on] methods that it is about
 * @property {boolean} [once]
 * @property {string} [form] of what is garbled
 * @property {number} [status] of HTTP
 *
 * @typedef {object} World
 * @property {string} text of the resource
 * @property {number} changes how many there were so far
 * @property {Record<string, any>} [says] results by method, in the place of its own
 * @property {Record<string, any>} [capabilities] beside its own
 * @property {Record<string, any>[]} [tells] notifications before the result of each call
 * @property {string} [writes] to standard error, likewise
 */

/** @param {string} dir */
export function openControl(dir) {
  /** @type {Map<string, { version: string, value: any }>} */
  const loaded = new Map();
  /** @param {string} name @param {any} otherwise */
  const load = (name, otherwise) => {
    const path = join(dir, name);
    try {
      // A test replaces the file as a whole. It is looked at often, and may be large, so it is read only when it is new.
      const { ino, mtimeNs } = statSync(path, { bigint: true });
      const version = `${ino} ${mtimeNs}`;
      const known = loaded.get(name);
      if (known?.version === version) return known.value;
      const value = JSON.parse(readFileSync(path, 'utf8'));
      loaded.set(name, { version, value });
      return value;
    } catch {
      return otherwise;
    }
  };
  /** @type {(() => void)[]} */
  const looks = [];
  const timer = setInterval(() => {
    for (const look of looks) look();
  }, 15);

  return {
    /** @returns {Fault} */
    fault: () => load('fault.json', {}),
    /** @returns {World} */
    world: () => load('world.json', { text: 'nothing', changes: 0 }),
    /** @param {string} what @param {object} [more] */
    note(what, more = {}) {
      appendFileSync(join(dir, 'log.jsonl'), `${JSON.stringify({ what, pid: process.pid, ...more })}\n`);
    },
    /** Returns the fault if it is about this method now, else undefined. @param {string} method */
    strikes(method) {
      const fault = this.fault();
      if (fault.kind === undefined || !(fault.on ?? []).includes(method)) return undefined;
      if (fault.once !== true) return fault;
      try {
        openSync(join(dir, `done-${fault.id}`), 'wx');
        return fault;
      } catch {
        return undefined;
      }
    },
    /** Calls back again and again. @param {() => void} look */
    look: (look) => void looks.push(look),
    close: () => clearInterval(timer),
  };
}

/** @typedef {ReturnType<typeof openControl>} Control */

/** Ends this process as an accident would. */
export function die() {
  process.kill(process.pid, 'SIGKILL');
}
