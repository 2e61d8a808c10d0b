/** The tools and prompts of an upstream: lists them, and calls them for the client that asks. */

import type { Data, Era } from '../../connection/data.ts';
import { mayHaveActed } from '../../connection/faults.ts';
import { breaks } from '../../core/breaks.ts';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Invocation } from '../../core/invocation.ts';
import type {
  CallOutcome,
  MountedServer,
  NamedRequest,
  ServerList,
  ToolPage,
} from '../../core/mounts/mounted-server.ts';
import type { Page } from '../../core/provider.ts';
import type { HeaderParameter } from '../../core/schema/header-parameters.ts';
import { noSuchSkill, skillProblem } from '../../core/skill.ts';
import type { NetworkTransport } from '../../core/trace.ts';
import type { GetPromptResult, PromptDescription, ToolDescription } from '../../protocol/content.ts';
import { type InputRequired, isInputRequired } from '../../protocol/input-required.ts';
import { GET_SKILL_METHOD, type Skill } from '../../protocol/skills.ts';
import type { TaskStarted } from '../../protocol/tasks.ts';
import { type Asking, othersOf, withClient, withoutServer } from './asking.ts';
import type { Border, EntryKind, Objection } from './border/index.ts';
import { brokenPromise, markedResult, refusedResult } from './border/promises.ts';
import { fitResult, keptResult } from './border/results.ts';
import type { Calls } from './calls.ts';
import { isOf2025 } from './clients.ts';
import { completeItem, withEmbedded } from './complete.ts';
import type { Connections, Lease } from './connections.ts';
import { createDefinitions } from './definitions.ts';
import { type Facts, hasTasks } from './facts.ts';
import type { KnownResources } from './known.ts';
import type { Fetch, KeepValid, ListedPage } from './lists.ts';
import type { Pins } from './pins/index.ts';
import { completionIn } from './resources.ts';
import type { Said } from './said.ts';
import { createTasks } from './tasks.ts';
import { sendTraced } from './traced.ts';
import type { Link, RequestOptions } from './wire/link.ts';
import { parameterHeaders } from './wire/parameter-headers.ts';

export interface ServerSetup {
  readonly facts: () => Facts;
  /** Returns the eras in which the server is known to have tasks. */
  readonly taskEras: () => readonly Era[];
  readonly instructions: () => string | undefined;
  readonly asking: Asking;
  readonly calls: Calls;
  readonly said: Said;
  readonly connections: Connections;
  readonly border: Border;
  readonly callTimeoutMs: number;
  /** The accepted definitions, where they are fixed. */
  readonly pins: Pins | undefined;
  readonly texts: 'as-is' | 'clean';
  readonly results: 'mark' | 'refuse' | 'as-is';
  /** The name of the mount. */
  readonly name: string;
  readonly transport: NetworkTransport;
  /** Forgets what a change of a list has made out of date; undefined where each replica has another server. */
  readonly heard: ((list: ServerList) => void) | undefined;
}

/** The most values of one completion. */
const MAX_COMPLETIONS = 100;

/** A mounted server, and a method that reports that its tools may have changed. */
export interface ChangingServer extends MountedServer {
  changed(): void;
}

export function mountedServer(setup: ServerSetup): ChangingServer {
  const { facts, asking, border, calls, connections, name, pins, texts, results } = setup;
  const definitions = createDefinitions((page, ctx) => listTools(page, ctx), name);
  const tasks = createTasks({ ...setup, taken: (...of) => taken('tools/call', ...of) });

  async function listTools(page: Page, ctx: Context): Promise<ToolPage> {
    const asked = definitions.forgotten;
    const { entries, nextCursor } = await listed('tools', 'tool', page, ctx);
    const tools = entries as unknown as readonly ToolDescription[];
    definitions.learn(tools, asked);
    return { tools, nextCursor };
  }

  /** Returns a page of a list, without entries that are invalid or do not match their pins. */
  async function listed(list: ServerList | 'skills', kind: EntryKind, page: Page, ctx: Context): Promise<ListedPage> {
    await connections.here(ctx);
    const { lists, fetching } = await connections.of(ctx);
    const fetch: Fetch = async (cursor, context) => {
      const params = cursor === undefined ? {} : { cursor };
      const result = await asking.ask(`${list}/list`, JSON.stringify(cursor ?? null), params, context);
      context.notes?.passOn(othersOf(result, list));
      return result;
    };
    const keep: KeepValid = (entries, context) =>
      list === 'skills'
        ? border.keep(kind, entries, context, objection)
        : border.keep(kind, entries, context, pins && ((_kind, entry) => pins.objection(list, entry, context)));
    const idOf = list === 'skills' ? uriOf : nameOf;
    return lists.page({ key: list, field: list, idOf, fetch, keep, fetching }, page, ctx);
  }

  /** Runs a call until it returns a result, a question for the client, or a task. */
  async function run(
    method: 'tools/call' | 'prompts/get',
    request: NamedRequest,
    invocation: Invocation,
  ): Promise<Data | InputRequired | TaskStarted> {
    const { _meta, task, ...params } = request as NamedRequest & Data;
    const meta = forwardedMeta(_meta);
    let headers: readonly HeaderParameter[] | undefined;
    let asTask: Data = {};
    let waited = false;
    /** The era of the connection over which the request was sent, in this round or an earlier one; undefined before that. */
    let sentIn: Era | undefined = 'legacy';
    let sentOver: Link | undefined;
    const running = calls.run(invocation, {
      async lease() {
        sentIn = undefined;
        const lease = await connections.forCall(invocation);
        try {
          asTask = tasks.wanted(task, lease.link, invocation);
          await setLogLevel(lease, invocation);
          if (method === 'tools/call' && lease.link.era === 'legacy' && hasTasks(lease.link) && !isOf2025(invocation)) {
            waited = (await definitions.soon(request.name, invocation))?.onlyAsTask === true;
          }
          if (setup.transport === 'tcp' && lease.link.era === 'modern' && method === 'tools/call') {
            headers = (await definitions.of(request.name, invocation))?.headers;
          }
        } catch (error) {
          // The call has not been sent, so nobody else releases its connection.
          lease.release(true);
          throw error;
        }
        return lease;
      },
      send({ link }, { signal, progress, origin }) {
        sentIn = link.era;
        sentOver = link;
        const modern = link.era === 'modern';
        const sent = {
          ...params,
          ...asTask,
          ...(modern && roundOf(invocation)),
          ...(meta !== undefined && { _meta: meta }),
        };
        const outgoing = { method, name: request.name, mount: setup.name, transport: setup.transport };
        const options: RequestOptions = {
          signal,
          timeoutMs: setup.callTimeoutMs,
          ...(headers !== undefined && { headers: parameterHeaders(headers, request.arguments) }),
          ...(invocation.wantsProgress && { onProgress: progress }),
          ...(modern && invocation.client.logLevel !== undefined && { origin }),
        };
        return sendTraced(invocation, outgoing, withClient(sent, link, invocation, true), (traced) =>
          waited ? tasks.waitedFor(link, traced, options) : link.request(method, traced, options),
        );
      },
    });
    const outcome = await running.catch((error: unknown) => {
      if (method !== 'tools/call' || !(error instanceof ResourceError) || sentIn === undefined) throw error;
      throw error.retryable && mayHaveActed(error.cause, sentIn) ? error.afterwards() : error;
    });
    if ('asks' in outcome) return outcome.asks;
    const result = withoutServer(outcome.result);
    if (method === 'tools/call') {
      const started = tasks.started(result, 'task' in asTask, invocation);
      if (started !== undefined) return started;
    }
    if (!isInputRequired(result)) return taken(method, request.name, result, invocation, sentOver);
    const { inputRequests, requestState } = result;
    return {
      resultType: 'input_required',
      ...(inputRequests !== undefined && { inputRequests }),
      requestState: invocation.seal({ requestState: requestState ?? null }),
    };
  }

  /** Prepares a result for the client. @param link the connection of the result, where known */
  async function taken(
    method: 'tools/call' | 'prompts/get',
    named: string,
    result: Data,
    invocation: Invocation,
    link?: Link,
  ): Promise<Data> {
    const valid = await keptResult(border, method, result, invocation);
    const whole = withEmbedded(valid, (resource) => completeItem(resource, knownOver(link), facts()));
    const turns = breaks();
    const fit = fitResult(name, whole, texts);
    await turns.end();
    return method === 'tools/call' ? kept(named, fit, invocation) : fit;
  }

  /** Returns the resources known from a connection; without an open connection, from the shared one. */
  const knownOver = (link: Link | undefined): KnownResources =>
    (connections.all().find(({ supervisor }) => supervisor.current === link) ?? connections.shared).known;

  /** Checks a result against the tool's schema, and marks or refuses one that does not match. */
  async function kept(tool: string, result: Data, invocation: Invocation): Promise<Data> {
    if (results === 'as-is' || result.isError === true) return result;
    const definition = await definitions.soon(tool, invocation);
    const problem = brokenPromise(definition?.outputSchema, result);
    if (problem === undefined) return result;
    invocation.log.warn('a result does not match the schema of the tool', { mount: name, tool, problem });
    return results === 'refuse' ? refusedResult(problem) : markedResult(result, problem);
  }

  /** The level that each server has accepted. */
  const levels = new WeakMap<Link, string>();

  /** A client's own connection gets the client's level of log messages. */
  async function setLogLevel({ link, own }: Lease, { client, signal }: Invocation): Promise<void> {
    const level = client.logLevel;
    if (!own || link.era !== 'legacy' || level === undefined || levels.get(link) === level) return;
    if (link.capabilities.logging === undefined) return;
    // A server that does not answer may have set the level or not.
    levels.delete(link);
    await link.request('logging/setLevel', { level }, { signal, timeoutMs: setup.callTimeoutMs });
    levels.set(link, level);
  }

  return {
    get features() {
      const { tools: some, prompts, completion, tellsTools, tellsPrompts, logging } = facts();
      const { skills, directories, metadata } = facts();
      const changes = { toolChanges: tellsTools, promptChanges: tellsPrompts };
      const ofSkills = { skills, directories: directories || metadata };
      return { tools: some, prompts, completion, ...changes, ...ofSkills, logging, tasks: setup.taskEras() };
    },

    get instructions() {
      return setup.instructions();
    },

    listTools,
    headerParameters: async (tool, ctx) => (await definitions.of(tool, ctx))?.headers ?? [],

    async callTool(request, invocation) {
      await pins?.admit('tools', request.name, invocation);
      return (await run('tools/call', request, invocation)) as unknown as CallOutcome;
    },

    async askTask(request, invocation) {
      await pins?.admit('tools', request.name, invocation);
      return tasks.ask(request, invocation);
    },
    watchTask: tasks.watch,

    async listPrompts(page, ctx) {
      const { entries, nextCursor } = await listed('prompts', 'prompt', page, ctx);
      return { prompts: entries as unknown as readonly PromptDescription[], nextCursor };
    },

    async getPrompt(request, invocation) {
      await pins?.admit('prompts', request.name, invocation);
      return (await run('prompts/get', request, invocation)) as unknown as GetPromptResult | InputRequired;
    },

    async completePrompt({ prompt, argument, value, known }, ctx) {
      await pins?.admit('prompts', prompt, ctx);
      const params = {
        ref: { type: 'ref/prompt', name: prompt },
        argument: { name: argument, value },
        ...(Object.keys(known).length > 0 && { context: { arguments: known } }),
      };
      const result = await asking.ask('completion/complete', crypto.randomUUID(), params, ctx);
      return completionIn(result, MAX_COMPLETIONS);
    },

    async listSkills(page, ctx) {
      const { entries, nextCursor } = await listed('skills', 'skill', page, ctx);
      return { skills: entries as unknown as readonly Skill[], nextCursor };
    },

    async getSkill(uri, ctx) {
      const result = await asking.ask(GET_SKILL_METHOD, uri, { uri }, ctx);
      ctx.notes?.passOn(othersOf(result, 'skill'));
      const [skill] = await border.keep('skill', [result.skill], ctx, objection);
      if (skill === undefined || skill.uri !== uri) throw noSuchSkill(uri);
      return skill as unknown as Skill;
    },

    watch: connections.watchList,
    ...(setup.heard !== undefined && { heard: setup.heard }),
    changed() {
      definitions.forget();
    },
  };
}

const nameOf = (entry: Data): string => String(entry.name);

const uriOf = (entry: Data): string => String(entry.uri);

const objection: Objection = (_kind, entry) => skillProblem(entry as unknown as Skill);

/** Returns the part of a request's `_meta` that is for the server, without fields between client and gateway. */
function forwardedMeta(meta: Data | undefined): Data | undefined {
  const entries = Object.entries(meta ?? {}).filter(([key]) => key !== 'progressToken' && !OWN_META.test(key));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

const OWN_META = /^(?:io\.modelcontextprotocol|vitrine)\//;

/** Returns the client's answers and the server's own state, for a further round. */
function roundOf({ state, answers }: Invocation): Data {
  // A client that knows the questions beforehand may answer at once.
  if (state === undefined) return Object.keys(answers).length === 0 ? {} : { inputResponses: answers };
  if (typeof state !== 'object' || state === null || !('requestState' in state)) return {};
  const { requestState } = state;
  return { inputResponses: answers, ...(typeof requestState === 'string' && { requestState }) };
}
