/**
 * A mounted server as it is published: its tools and prompts as `{mount}_{name}`, and its URIs under the mount wherever
 * they occur, both ways. A mount's name has no underscore, so the first one ends it.
 */
import type { CallToolResult, PromptDescription, ToolDescription } from '../../protocol/content.ts';
import { isData } from '../../protocol/data.ts';
import { type InputRequired, isInputRequired } from '../../protocol/input-required.ts';
import type { Task, TaskStarted } from '../../protocol/tasks.ts';
import { PeerError } from '../errors.ts';
import { noSuchSkill, skillFilter } from '../skill.ts';
import type { Mount } from './mount.ts';
import type { MountedServer, NamedRequest } from './mounted-server.ts';
import { isPrefixed, nativeUri } from './published-uris.ts';
import {
  nativeArguments,
  publishAsking,
  publishContent,
  publishErrorData,
  publishInputRequests,
  publishMeta,
  publishSkill,
} from './rewriting.ts';

export interface PublishedServer extends MountedServer {
  readonly mount: string;
  /** The beginning of its names; empty without a prefix. */
  readonly prefix: string;
}

/** Returns the beginning of the names of a mount's tools and prompts. */
export const namePrefix = (mount: Pick<Mount, 'name' | 'prefix'>): string =>
  isPrefixed(mount) ? `${mount.name}_` : '';

/** The server of a mount under the mount's name; undefined for a mount without one. */
export function publishServer(mount: Mount): PublishedServer | undefined {
  const { server } = mount;
  if (server === undefined) return undefined;
  const { askTask, watchTask } = server;
  const prefix = namePrefix(mount);
  const isWanted = skillFilter(mount);
  const outward = <T extends ToolDescription | PromptDescription>(described: T): T =>
    prefix === '' ? described : publishMeta(mount, { ...described, name: `${prefix}${described.name}` });
  const inward = (request: NamedRequest): NamedRequest => {
    if (prefix === '') return request;
    const args = request.arguments === undefined ? {} : { arguments: nativeArguments(mount, request.arguments) };
    return { ...request, ...args, name: request.name.slice(prefix.length) };
  };

  const refuse = (error: unknown): never => {
    throw error instanceof PeerError ? publishPeerError(mount, error) : error;
  };

  /** Publishes what a call comes back with: its content, or a question to the client. */
  async function published<T extends object>(
    running: Promise<T | InputRequired>,
    publish: (result: T) => T,
  ): Promise<T | InputRequired> {
    const result = await running.catch(refuse);
    return isInputRequired(result) ? publishInputRequests(mount, result) : publish(result as T);
  }

  const publishResult = <T extends object>(result: T): T => {
    const published = publishMeta(mount, result);
    return 'content' in published ? { ...published, content: publishContent(mount, published.content) } : published;
  };

  /** A task, with what it has come to and what it asks, or the result of one. */
  const publishTask = (answer: object): object => {
    const { result, inputRequests, error } = answer as Partial<Task>;
    return {
      ...publishResult(answer),
      ...(isData(result) && { result: publishResult(result) }),
      ...(isData(inputRequests) && publishInputRequests(mount, { inputRequests } as unknown as InputRequired)),
      ...(isData(error) && isData(error.data) && { error: { ...error, data: publishErrorData(mount, error.data) } }),
    };
  };

  return {
    mount: mount.name,
    prefix,
    get features() {
      return mount.skills === false ? { ...server.features, skills: false } : server.features;
    },
    get instructions() {
      return server.instructions;
    },
    async listTools(page, ctx) {
      const { tools, ...rest } = await server.listTools(page, ctx).catch(refuse);
      return { ...rest, tools: tools.map(outward) };
    },
    callTool: (request, invocation) =>
      published<CallToolResult | TaskStarted>(
        server.callTool(inward(request), publishAsking(mount, invocation)),
        publishResult,
      ),
    ...(askTask !== undefined && {
      askTask: async (request, invocation) => {
        const asked = { ...request, name: request.name.slice(prefix.length) };
        return publishTask(await askTask(asked, publishAsking(mount, invocation)).catch(refuse));
      },
    }),
    ...(watchTask !== undefined && { watchTask }),
    headerParameters: async (tool, ctx) => (await server.headerParameters?.(tool.slice(prefix.length), ctx)) ?? [],
    async listPrompts(page, ctx) {
      const { prompts, ...rest } = await server.listPrompts(page, ctx).catch(refuse);
      return { ...rest, prompts: prompts.map(outward) };
    },
    getPrompt: (request, invocation) =>
      published(server.getPrompt(inward(request), publishAsking(mount, invocation)), (result) => ({
        ...result,
        messages: publishContent(mount, result.messages),
      })),
    async listSkills(page, ctx) {
      const { skills, ...rest } = (await server.listSkills?.(page, ctx).catch(refuse)) ?? { skills: [] };
      return { ...rest, skills: skills.filter(({ uri }) => isWanted(uri)).map((each) => publishSkill(mount, each)) };
    },
    async getSkill(uri, ctx) {
      const native = nativeUri(mount, uri) ?? uri;
      if (server.getSkill === undefined || !isWanted(native)) throw noSuchSkill(uri);
      return publishSkill(mount, await server.getSkill(native, ctx).catch(refuse));
    },
    completePrompt: (request, ctx) =>
      server.completePrompt({ ...request, prompt: request.prompt.slice(prefix.length) }, ctx).catch(refuse),
    watch: (list, onChange, ctx) => server.watch(list, onChange, ctx),
  };
}

/** A URI in the data of an error is the mount's too. */
function publishPeerError(mount: Mount, error: PeerError): PeerError {
  const { data } = error.wire;
  return data === undefined
    ? error
    : new PeerError({ ...error.wire, data: publishErrorData(mount, data) }, error.uri, error.cause);
}
