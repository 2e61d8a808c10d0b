/** Lets one of several replicas watch a source where watching costs (`docs/decisions/0064-one-watcher.md`). */
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
  /** The mount, watched together with other replicas where that costs. The same for the same mount. */
  share(mount: Mount): Mount;
  /** The mount is not served any more. */
  end(mount: Mount): Promise<void>;
  /** Gives leases back, and ends every watch. */
  close(): Promise<void>;
}

/** @param bus undefined where there is one process: then everything stays as it is */
export function createOneWatcher(bus: Bus | undefined): OneWatcher {
  const shared = new Map<Mount, { readonly mount: Mount; readonly source: SharedSource }>();

  function sharedMount(mount: Mount, over: Bus) {
    const { provider, server } = mount;
    const source = createSharedSource({
      bus: over,
      name: JSON.stringify([mount.name, mount.source ?? '']),
      place: (subject, onChange, ctx) => placed(mount, subject, onChange, ctx),
      heard: (subject, event) => heardOf(mount, subject, event),
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
      const made = shared.get(mount) ?? sharedMount(mount, bus);
      shared.set(mount, made);
      return made.mount;
    },
    async end(mount) {
      const made = shared.get(mount);
      shared.delete(mount);
      await made?.source.close();
    },
    async close() {
      await Promise.all([...shared.values()].map(({ source }) => source.close()));
      shared.clear();
    },
  };
}

/** Watches at the source itself. */
async function placed({ provider, server }: Mount, subject: Subject, onChange: OnChange, ctx: Context) {
  const list = serverListOf(subject);
  if (list !== undefined && server !== undefined) return server.watch(list, () => onChange(eventOf(subject)), ctx);
  return await (provider.watch?.(uriOf(subject), onChange, ctx) ?? nothing());
}

const nothing = async (): Promise<AsyncDisposable> => ({ [Symbol.asyncDispose]: async () => {} });

function heardOf({ provider, server }: Mount, subject: Subject, event: ChangeEvent): void {
  const list = serverListOf(subject);
  if (list === undefined) provider.heard?.(event);
  else server?.heard?.(list);
}

function serverListOf(subject: Subject): ServerList | undefined {
  const list = listOf(subject);
  return list === 'resources' ? undefined : list;
}

/** A server whose lists are watched together. Everything else is asked of the server itself, whose features come to be known later. */
function sharedServer(server: MountedServer, source: SharedSource): MountedServer {
  return Object.assign(Object.create(server), {
    watch: (list: ServerList, onChange: () => void, ctx: Context) => source.watch(listSubject(list), onChange, ctx),
  } satisfies Pick<MountedServer, 'watch'>);
}
