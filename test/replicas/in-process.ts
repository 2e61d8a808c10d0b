/** Replicas in the process of a test, each with its own server. */
import type { Bus } from '../../src/core/bus.ts';
import { filesProvider } from '../../src/providers/files/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine, type VitrineOptions } from '../../src/vitrine.ts';

export interface Replica {
  readonly vitrine: Vitrine;
  readonly serving: HttpServing;
  close(): Promise<void>;
}

/** Serves the files of a folder. @param bus is closed with the replica */
export async function startReplica(
  path: string,
  bus: Bus,
  options: Partial<VitrineOptions> & Pick<VitrineOptions, 'keys'>,
): Promise<Replica> {
  const provider = await filesProvider({ path });
  return serveReplica({ ...options, mounts: [{ name: 'files', provider, prefix: 'none' }], bus });
}

/** Serves what the options say. Their bus is closed with the replica. */
export async function serveReplica(
  options: VitrineOptions & { readonly bus: Bus } & Pick<VitrineOptions, 'keys'>,
): Promise<Replica> {
  const vitrine = createVitrine(options);
  const serving = await serveHttp(vitrine, { port: 0, explorer: false });
  return {
    vitrine,
    serving,
    async close() {
      await serving.close();
      await vitrine.close();
      await options.bus.close();
    },
  };
}
