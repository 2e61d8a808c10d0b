/** The table of the methods that the engine answers: their parameters, and the functions that run them. */

import { SERVER_INFO_META_KEY } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { AskedFor } from '../../core/admission.ts';
import { askAndRunAgain } from '../../core/asking/run-again.ts';
import type { Context, Principal } from '../../core/context.ts';
import type { AccessOperation } from '../../core/decided.ts';
import { ResourceError, toWireError, type WireError } from '../../core/errors.ts';
import type { Invocation } from '../../core/invocation.ts';
import { changeTexts, scrub } from '../../core/text/scrub.ts';
import { markWritten } from '../../core/text/written.ts';
import type { Engine } from '../../engine/index.ts';
import { APP_CONTENTS, APP_RESOURCE, APP_URI, browseTool, showsApps } from '../../frontends/app/index.ts';
import { complete } from '../../frontends/completion/complete.ts';
import { listPrompts } from '../../frontends/prompts/methods.ts';
import { answering } from '../../frontends/resources/answer.ts';
import { listAgain, listForClient } from '../../frontends/resources/list.ts';
import { readMetadata } from '../../frontends/resources/metadata.ts';
import { readAgain, readResource } from '../../frontends/resources/read.ts';
import { listTemplates } from '../../frontends/resources/templates.ts';
import { getSkill, listSkills } from '../../frontends/skills/methods.ts';
import { listTools } from '../../frontends/tools/methods.ts';
import { type Data, isData } from '../../protocol/data.ts';
import type { Era } from '../../protocol/era.ts';
import {
  callToolParams,
  completeParams,
  DIRECTORY_READ_METHOD,
  directoryReadParams,
  getPromptParams,
  type ListParams,
  listParams,
  listPromptsParams,
  listToolsParams,
  METADATA_METHOD,
  metadataParams,
  readParams,
  templatesParams,
} from '../../protocol/methods.ts';
import type { Resource } from '../../protocol/resources.ts';
import { GET_SKILL_METHOD, getSkillParams, LIST_SKILLS_METHOD, listSkillsParams } from '../../protocol/skills.ts';
import { isTaskStarted } from '../../protocol/tasks.ts';

export interface Method {
  readonly name: string;
  readonly params: z.ZodType;
  /**
   * Runs the method.
   * @param params the result of the schema `params`
   * @param goesOn whether the client has answered questions of the same request, which has been counted
   */
  readonly run: (params: unknown, invocation: Invocation, goesOn?: boolean) => Promise<object>;
  /**
   * Returns the members of an earlier result in JSON, without waiting, if that result is still valid. The parameters may be
   * unchecked: wrong parameters match no earlier result.
   */
  readonly again?: ((params: Data, ctx: Context) => string | undefined) | undefined;
}

type Run<S extends z.ZodType> = (params: z.infer<S>, invocation: Invocation) => Promise<object>;

function method<S extends z.ZodType>(name: string, params: S, run: Run<S>, again?: Method['again']): Method {
  return {
    name,
    params,
    async run(checked, invocation) {
      // Looks for an earlier result now, too, because another request may have made one while this one waited for its turn.
      const members = again?.(checked as Data, invocation);
      return members === undefined ? run(checked as z.infer<S>, invocation) : markWritten({}, members);
    },
    again,
  };
}

const unchanged = <T extends object>(result: T): T => result;

/** All methods of an engine, by name. `offersTo` says which of them a principal may use. */
export function methodsOf(engine: Engine): ReadonlyMap<string, Method> {
  const { resources, provider, tools, prompts, tasks } = engine;
  const { withIcons = unchanged } = resources;
  const methods: Method[] = [
    method(METADATA_METHOD, metadataParams, async (params, ctx) =>
      params.uri === APP_URI && engine.app !== undefined
        ? answering(resources, ctx, async () => ({ resource: APP_RESOURCE }))
        : withIcons(await readMetadata(resources, params, ctx)),
    ),
    method('resources/templates/list', templatesParams, async (params, ctx) =>
      withIcons(await listTemplates(resources, params, ctx)),
    ),
  ];
  const listing = (name: string, params: typeof listParams | typeof directoryReadParams): Method =>
    method(
      name,
      params,
      (wanted: ListParams, ctx) => listForClient(resources, name, wanted, ctx),
      ({ uri, cursor }, ctx) =>
        uri === undefined || typeof uri === 'string' ? listAgain(resources, name, { uri, cursor }, ctx) : undefined,
    );
  methods.push(
    // `listForClient` adds the icons itself.
    listing('resources/list', listParams),
    listing(DIRECTORY_READ_METHOD, directoryReadParams),
    method(
      'resources/read',
      readParams,
      (params, ctx) =>
        params.uri === APP_URI && engine.app !== undefined
          ? answering(resources, ctx, async () => ({ contents: APP_CONTENTS }))
          : readResource(resources, params, ctx),
      ({ uri, _meta }, ctx) =>
        typeof uri === 'string' ? readAgain(resources, { uri, _meta: _meta as Data }, ctx) : undefined,
    ),
    method('tools/list', listToolsParams, async (params, ctx) => {
      const listed = await listTools(provider, resources, params, ctx);
      const { app } = engine;
      if (app === undefined || listed.nextCursor !== undefined || !showsApps(ctx)) return listed;
      return { ...listed, tools: [...listed.tools, browseTool(app)] };
    }),
    method(
      'tools/call',
      callToolParams,
      async (params, ctx) => {
        const { task, ...call } = params;
        const name = await listedName(engine, params, ctx);
        const owner = tools.ownerOf(name);
        // If tasks were not offered to this client, `task` is ignored (2025-11-25).
        const asTask = task !== undefined && offersTasks(engine, ctx.principal, 'legacy') && { task };
        const result = await provider.callTool({ ...call, ...asTask, name }, owner, ctx);
        if (isTaskStarted(result)) return tasks.book.begun(result, { mount: owner.mount ?? '', name }, ctx);
        return 'isError' in result && result.isError === true ? hiddenIn(result, engine.hide) : result;
      },
      ({ name, arguments: args, ...more }, ctx) =>
        typeof name === 'string' && isData(args) && Object.keys(more).every((key) => key === '_meta')
          ? provider.callToolAgain?.({ name, arguments: args }, tools.ownerOf(name), ctx)
          : undefined,
    ),
    method('prompts/list', listPromptsParams, (params, ctx) => listPrompts(provider, resources, params, ctx)),
    method('prompts/get', getPromptParams, async (params, ctx) =>
      provider.getPrompt(params, await prompts.ownerOf(params.name, ctx), ctx),
    ),
    method(LIST_SKILLS_METHOD, listSkillsParams, (params, ctx) => listSkills(provider, resources, params, ctx)),
    method(GET_SKILL_METHOD, getSkillParams, (params, ctx) => getSkill(provider, resources, params, ctx)),
    method('completion/complete', completeParams, (params, ctx) =>
      complete(provider, prompts.ownerOf, params, resources.limits.maxCompletions, ctx),
    ),
  );
  return new Map(methods.map((each) => [each.name, admitted(engine, ASKING.has(each.name) ? asking(each) : each)]));
}

/**
 * Returns the name of the tool to run for a call. In place of `browse`, the tool that lists runs for a folder or without a URI, and the
 * tool that describes for any other resource.
 */
async function listedName(
  { app, provider, tools }: Engine,
  { name, arguments: args }: z.infer<typeof callToolParams>,
  ctx: Invocation,
): Promise<string> {
  if (app === undefined || name !== app.browse || !showsApps(ctx)) return name;
  if (args?.uri === undefined) return app.list;
  const described = await provider.callTool({ name: app.describe, arguments: args }, tools.ownerOf(app.describe), ctx);
  const { resource } = ('structuredContent' in described ? described.structuredContent : {}) as {
    readonly resource?: Resource;
  };
  return resource?.capabilities?.list === true ? app.list : app.describe;
}

/**
 * Returns a function that says whether a principal may use a method. A method of which the principal could use nothing is neither
 * declared nor answered (SEC-CAP-1).
 */
export function offersTo(
  { provider, tools, prompts, skills, toolSubscriptions, access }: Engine,
  principal: Principal,
): (method: string) => boolean {
  const could = (operation: AccessOperation): boolean => access?.could(principal, { operation }) !== false;
  const ofPrompts = (): boolean => prompts.some && could('prompt');
  return (method) => {
    // If there are resource tools, everybody may call them: access is decided for each resource.
    if (method.startsWith('tools/')) return tools.some && (toolSubscriptions !== undefined || could('call'));
    if (method === 'logging/setLevel') return tools.logging && could('call');
    if (method.startsWith('prompts/')) return ofPrompts();
    if (method === 'completion/complete') return (provider.features.completion && could('complete')) || ofPrompts();
    if (method.startsWith('skills/') && !skills.some) return false;
    return provider.features.resources !== false;
  };
}

/** Whether a principal's calls may become tasks in an era: the principal may call tools of a mount that has tasks. */
export const offersTasks = ({ tasks, access }: Engine, principal: Principal, era: Era): boolean =>
  tasks.mounts(era).some((mount) => access?.could(principal, { operation: 'call', mount }) !== false);

/** Methods that may ask the client for something before they have a result (2026-07-28, Multi Round-Trip Requests). */
export const ASKING: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

const asking = ({ run, ...method }: Method): Method => ({
  ...method,
  run: (params, invocation) => askAndRunAgain(invocation, (again) => run(params, again)),
});

/** The parts of a request that admission counts by. */
export const askedFor = (method: string, { name, uri }: Data): AskedFor => ({
  method,
  name: typeof name === 'string' ? name : undefined,
  uri: typeof uri === 'string' ? uri : undefined,
});

/**
 * The same method under the limits of admission, which count each request once, whether or not it asks its client something, and
 * limit how many run at a time.
 */
export function admitted({ admission }: Pick<Engine, 'admission'>, method: Method): Method {
  return {
    ...method,
    run(params, invocation, goesOn) {
      const work = (): Promise<object> => method.run(params, invocation, goesOn);
      return admission.run(askedFor(method.name, params as Data), invocation, work, goesOn);
    },
  };
}

/**
 * The `_meta` of a 2026-07-28 result, which names the server. It has only the name and version that the specification requires;
 * the whole identity, with icons, is in `server/discover`.
 */
export function signatureOf({ identity }: Engine): Readonly<Record<string, unknown>> {
  return { [SERVER_INFO_META_KEY]: { name: identity.name, version: identity.version } };
}

/** A copy of a result with more fields in its `_meta`. */
export function withMeta(result: object, meta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { ...result, _meta: { ...(result as { readonly _meta?: object })._meta, ...meta } };
}

/** Hides secrets in the texts of a failure, which a mounted server or a tool may have written. */
export const hiddenIn = <T extends object>(failure: T, hide: Engine['hide']): T =>
  hide === undefined ? failure : (changeTexts(failure, hide) as T);

/** The refusal of a request that cannot go on by the rules of the protocol. The client gets `wire` as it is. */
export class RequestRefused extends Error {
  readonly wire: WireError;

  constructor(wire: WireError) {
    super(wire.message);
    this.name = 'RequestRefused';
    this.wire = { ...wire, message: scrub(wire.message) };
  }
}

/** Logs an error under the id of its request, and returns what the client may see of it. */
export function wireErrorOf({ hide }: Engine, error: unknown, name: string, era: Era, ctx: Context): WireError {
  if (error instanceof RequestRefused) return error.wire;
  const expected = error instanceof ResourceError && error.code !== 'internal';
  if (!ctx.signal.aborted) {
    ctx.log[expected ? 'debug' : 'error']('request failed', { method: name, requestId: ctx.requestId, error });
  }
  return hiddenIn(toWireError(error, ctx.requestId, era), hide);
}
