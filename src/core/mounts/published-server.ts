/**
 * Publishes a mounted server: its tools and prompts become `{mount}_{name}`, and its URIs get the prefix of the mount. Requests
 * are translated back. A mount's name has no underscore, so the first underscore of a published name ends it.
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
  /** The beginning of its published names; empty for a mount without a prefix. */
  readonly prefix: string;
}

/** Returns the beginning of the published names of a mount's tools and prompts. */
export const namePrefix = (mount: Pick<Mount, 'name' | 'prefix'>): string =>
  isPrefixed(mount) ? `${mount.name}_` : '';

/** Returns the mount's server as it is published; undefined for a mount without a server. */
export function publishServer(mount: Mount): PublishedServer | undefined {
  const { server } = mount;
  if (server === undefined) return undefined;
  const { askTask, watchTask } = server;
  const prefix = namePrefix(mount);
  const isWanted = skillFilter(mount);
  const publishDescription = <T extends ToolDescription | PromptDescription>(described: T): T =>
    prefix === '' ? described : publishMeta(mount, { ...described, name: `${prefix}${described.name}` });
  const nativeRequest = (request: NamedRequest): NamedRequest => {
    if (prefix === '') return request;
    const args = request.arguments === undefined ? {} : { arguments: nativeArguments(mount, request.arguments) };
    return { ...request, ...args, name: request.name.slice(prefix.length) };
  };

  const rethrow = (error: unknown): never => {
    throw error instanceof PeerError ? publishPeerError(mount, error) : error;
  };

  /** Publishes the outcome of a call: its result, or a question to the client. */
  async function published<T extends object>(
    running: Promise<T | InputRequired>,
    publish: (result: T) => T,
  ): Promise<T | InputRequired> {
    const result = await running.catch(rethrow);
    return isInputRequired(result) ? publishInputRequests(mount, result) : publish(result as T);
  }

  const publishResult = <T extends object>(result: T): T => {
    const published = publishMeta(mount, result);
    return 'content' in published ? { ...published, content: publishContent(mount, published.content) } : published;
  };

  /** Publishes a task with its result, questions and error; or the result of a task. */
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
      const { tools, ...rest } = await server.listTools(page, ctx).catch(rethrow);
      return { ...rest, tools: tools.map(publishDescription) };
    },
    callTool: (request, invocation) =>
      published<CallToolResult | TaskStarted>(
        server.callTool(nativeRequest(request), publishAsking(mount, invocation)),
        publishResult,
      ),
    ...(askTask !== undefined && {
      askTask: async (request, invocation) => {
        const native = { ...request, name: request.name.slice(prefix.length) };
        return publishTask(await askTask(native, publishAsking(mount, invocation)).catch(rethrow));
      },
    }),
    ...(watchTask !== undefined && { watchTask }),
    headerParameters: async (tool, ctx) => (await server.headerParameters?.(tool.slice(prefix.length), ctx)) ?? [],
    async listPrompts(page, ctx) {
      const { prompts, ...rest } = await server.listPrompts(page, ctx).catch(rethrow);
      return { ...rest, prompts: prompts.map(publishDescription) };
    },
    getPrompt: (request, invocation) =>
      published(server.getPrompt(nativeRequest(request), publishAsking(mount, invocation)), (result) => ({
        ...result,
        messages: publishContent(mount, result.messages),
      })),
    async listSkills(page, ctx) {
      const { skills, ...rest } = (await server.listSkills?.(page, ctx).catch(rethrow)) ?? { skills: [] };
      return { ...rest, skills: skills.filter(({ uri }) => isWanted(uri)).map((skill) => publishSkill(mount, skill)) };
    },
    async getSkill(uri, ctx) {
      const native = nativeUri(mount, uri) ?? uri;
      if (server.getSkill === undefined || !isWanted(native)) throw noSuchSkill(uri);
      return publishSkill(mount, await server.getSkill(native, ctx).catch(rethrow));
    },
    completePrompt: (request, ctx) =>
      server.completePrompt({ ...request, prompt: request.prompt.slice(prefix.length) }, ctx).catch(rethrow),
    watch: (list, onChange, ctx) => server.watch(list, onChange, ctx),
  };
}

/** Publishes the URIs in the data of an error. */
function publishPeerError(mount: Mount, error: PeerError): PeerError {
  const { data } = error.wire;
  return data === undefined
    ? error
    : new PeerError({ ...error.wire, data: publishErrorData(mount, data) }, error.uri, error.cause);
}
