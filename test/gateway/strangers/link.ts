/** Servers of other makers: reached directly, or mounted in a gateway. */
import { fileURLToPath } from 'node:url';
import { temporaryFolder, writeConfig } from '../../e2e/folders.ts';
import {
  type Abilities,
  type Connected,
  connect,
  type Era,
  TRANSPORTS,
  type TransportKind,
} from '../../e2e/harness.ts';
import type { Way } from '../fixture/link.ts';
import { type Serving, serveHttp } from '../fixture/serving.mjs';
import { createStrangerPeer, type Stranger } from './peer.mjs';

const MAIN = fileURLToPath(new URL('./main.mjs', import.meta.url));

/** The transport to a server, and its eras. */
export interface StrangerWay {
  readonly transport: TransportKind;
  readonly era: Era | 'both';
}

/** Each era over each transport, and both eras at once. */
export const WAYS: readonly StrangerWay[] = TRANSPORTS.flatMap((transport) =>
  (['legacy', 'modern', 'both'] as const).map((era) => ({ transport, era })),
);

export interface StrangerServer extends AsyncDisposable {
  /** As an entry of `mounts`. */
  readonly mount: Readonly<Record<string, unknown>>;
}

/** As the first argument of a command. */
export const commandOf = ({ mount }: StrangerServer): string =>
  'url' in mount
    ? String(mount.url)
    : [mount.command, ...(mount.args as readonly string[])].map((each) => `"${each}"`).join(' ');

/** Starts a server over HTTP in this process. A server over stdio is started by the gateway or command that uses it. */
export async function startStranger(name: string, { transport, era }: StrangerWay): Promise<StrangerServer> {
  if (transport === 'stdio') {
    return {
      mount: { command: process.execPath, args: [MAIN, name, '--era', era] },
      async [Symbol.asyncDispose]() {},
    };
  }
  const { stranger } = (await import(new URL(`${name}.mjs`, import.meta.url).href)) as { readonly stranger: Stranger };
  // Each server has its own counts.
  const own = { ...stranger };
  const serving: Serving = await serveHttp({ close() {} }, era, (_world, speaking, send) =>
    createStrangerPeer(own, speaking, send),
  );
  return { mount: { url: serving.url }, [Symbol.asyncDispose]: async () => serving.close() };
}

export interface MountOptions extends Readonly<Record<string, unknown>> {
  readonly era?: string;
}

/** Options of the client, and of the configuration around the mount. */
export interface Around {
  readonly abilities?: Abilities;
  /** Other parts of the configuration. */
  readonly around?: Readonly<Record<string, unknown>>;
}

/** A client of a gateway whose only mount, `stranger`, is the server. */
export async function connectToStranger(
  client: Way,
  name: string,
  way: StrangerWay,
  { abilities, around, ...options }: MountOptions & Around = {},
): Promise<Connected> {
  const server = await startStranger(name, way);
  const folder = await temporaryFolder({});
  const end = async (): Promise<void> => {
    await server[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  };
  try {
    const mounts = { stranger: { ...server.mount, ...options } };
    const config = await writeConfig(folder, { tools: 'off', icons: 'off', ...around, mounts });
    const connection = await connect(client.transport, client.era, ['--config', config], abilities);
    const close = async (): Promise<void> => {
      await connection.close();
      await end();
    };
    return { ...connection, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await end();
    throw error;
  }
}

/** The raw answer. The SDK's client keeps only a part of an error. */
export async function answer(on: Connected, method: string, uri: string): Promise<object> {
  const before = on.received.length;
  await on.request(method, { uri }).catch(() => {});
  const { id: _id, ...said } = on.received.slice(before).find((message) => 'id' in message) as { id?: unknown };
  return said;
}
