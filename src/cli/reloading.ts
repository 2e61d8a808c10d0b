/** Reloads a configuration while it is served. If the new one is invalid, its mistake is logged, and the old one stays in use. */
import { readFile } from 'node:fs/promises';
import { closeMounts } from '../config/mounts.ts';
import type { Log } from '../core/context.ts';
import type { Engine } from '../engine/index.ts';
import { followFiles } from '../serving/followed-files.ts';
import { explainFailure } from './errors.ts';
import type { Sources } from './sources.ts';
import type { Terminal } from './terminal.ts';

export interface Served {
  /** The sources that are served now. */
  readonly current: Sources;
  /** Stops following changes; resolves once a running reload has ended. */
  close(): Promise<void>;
}

interface Following {
  readonly engine: Engine;
  /** Opens the whole configuration again; unchanged mounts keep their objects. */
  readonly reopen: (before: Sources) => Promise<Sources>;
  readonly hide: (text: string) => string;
  readonly log: Log;
  readonly terminal: Pick<Terminal, 'input' | 'onHangup'>;
}

/** Reloads after a change of the configuration's files, and on SIGHUP, unless SIGHUP means that the terminal closed. */
export async function followSources(
  first: Sources,
  { engine, reopen, hide, log, terminal }: Following,
): Promise<Served> {
  const { replaceMounts } = engine;
  let current = first;
  let closed = false;
  let seen = await textOf(first.files);
  let running = Promise.resolve();

  async function takeOver(forced: boolean): Promise<void> {
    const text = await textOf(first.files);
    if (closed || replaceMounts === undefined || (text === seen && !forced)) return;
    seen = text;
    try {
      const next = await reopen(current);
      const added = next.mounts.filter((mount) => !current.mounts.includes(mount));
      const gone = current.mounts.filter((mount) => !next.mounts.includes(mount));
      try {
        if (closed) throw new Error('The server is ending');
        await replaceMounts(next);
      } catch (error) {
        await closeMounts(added);
        throw error;
      }
      current = next;
      log.info('a changed configuration is served', { opened: namesOf(added), closed: namesOf(gone) });
    } catch (error) {
      if (closed) return;
      const reason = hide(explainFailure(error).line);
      log.error('a changed configuration is refused, and the old one stays in use', { reason });
    }
  }

  const again = (forced: boolean): void => {
    running = running.then(() => takeOver(forced));
  };
  const files = first.files.length === 0 ? undefined : followFiles(first.files, () => again(false), log);
  const forget = files && terminal.input.isTTY !== true ? terminal.onHangup?.(() => again(true)) : undefined;
  return {
    get current() {
      return current;
    },
    async close() {
      closed = true;
      files?.close();
      forget?.();
      await running;
    },
  };
}

const namesOf = (mounts: Sources['mounts']): readonly string[] => mounts.map(({ name }) => name);

/** Joins the files to one text, to see whether they changed; a file that cannot be read counts as null. */
const textOf = async (files: readonly string[]): Promise<string> =>
  JSON.stringify(await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => null))));
