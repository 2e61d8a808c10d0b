/** If watching a source is expensive, lets one of several replicas watch it for all (`docs/decisions/0064-one-watcher.md`). */
import type { Bus } from '../../core/bus.ts';
import type { Context } from '../../core/context.ts';
import { wrapProvider } from '../../core/layer.ts';
import type { Mount } from '../../core/mounts/mount.ts';
import type { MountedServer, ServerList } from '../../core/mounts/mounted-server.ts';
import type { ChangeEvent } from '../../core/provider.ts';
import { createSharedSource, type SharedSource } from './source.ts';
import { eventOf, listOf, listSubject, resourceSubject, type Subject, uriOf } from './subject.ts';
import type { OnChange } from './watched.ts';

export interface OneWatcher {
  /** Returns the mount with shared watches if watching it is expensive, else the mount itself; always the same object for a mount. */
  share(mount: Mount): Mount;
  /** Ends the shared watches of a mount that is no longer served. */
  end(mount: Mount): Promise<void>;
  /** Gives leases back, and ends every watch. */
  close(): Promise<void>;
}

/** @param bus undefined if there is only one process: then mounts are returned unchanged */
export function createOneWatcher(bus: Bus | undefined): OneWatcher {
  const shared = new Map<Mount, { readonly mount: Mount; readonly source: SharedSource }>();

  function sharedMount(mount: Mount, bus: Bus) {
    const { provider, server } = mount;
    const source = createSharedSource({
      bus,
      name: JSON.stringify([mount.name, mount.source ?? '']),
      place: (subject, onChange, ctx) => watchDirectly(mount, subject, onChange, ctx),
      heard: (subject, event) => passOn(mount, subject, event),
    });
    const watched: Mount = {
      ...mount,
      provider: wrapProvider(provider, {
        watch: (uri, onChange, ctx) => source.watch(resourceSubject(uri), onChange, ctx),
      }),
      ...(server?.heard !== undefined && { server: sharedServer(server, source) }),
    };
    return { mount: watched, source };
  }

  return {
    share(mount) {
      if (bus === undefined || mount.provider.watch === undefined || mount.provider.heard === undefined) return mount;
      const entry = shared.get(mount) ?? sharedMount(mount, bus);
      shared.set(mount, entry);
      return entry.mount;
    },
    async end(mount) {
      const entry = shared.get(mount);
      shared.delete(mount);
      await entry?.source.close();
    },
    async close() {
      await Promise.all([...shared.values()].map(({ source }) => source.close()));
      shared.clear();
    },
  };
}

/** Watches a subject at the source itself. */
async function watchDirectly({ provider, server }: Mount, subject: Subject, onChange: OnChange, ctx: Context) {
  const list = serverListOf(subject);
  if (list !== undefined && server !== undefined) return server.watch(list, () => onChange(eventOf(subject)), ctx);
  return await (provider.watch?.(uriOf(subject), onChange, ctx) ?? nothing());
}

const nothing = async (): Promise<AsyncDisposable> => ({ [Symbol.asyncDispose]: async () => {} });

/** Tells the provider or server of a change that another replica has seen, or that may have been missed. */
function passOn({ provider, server }: Mount, subject: Subject, event: ChangeEvent): void {
  const list = serverListOf(subject);
  if (list === undefined) provider.heard?.(event);
  else server?.heard?.(list);
}

function serverListOf(subject: Subject): ServerList | undefined {
  const list = listOf(subject);
  return list === 'resources' ? undefined : list;
}

/** Returns a server with shared watches of its lists. It inherits everything else, so that features that become known later show. */
function sharedServer(server: MountedServer, source: SharedSource): MountedServer {
  return Object.assign(Object.create(server), {
    watch: (list: ServerList, onChange: () => void, ctx: Context) => source.watch(listSubject(list), onChange, ctx),
  } satisfies Pick<MountedServer, 'watch'>);
}
