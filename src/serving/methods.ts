/** The requests that are answered from the engine alone, as data: the SDK's servers and the direct path share them. */
import { SERVER_INFO_META_KEY } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { withConsent } from '../core/consent.ts';
import type { Context, Principal } from '../core/context.ts';
import type { AccessOperation } from '../core/decided.ts';
import { ResourceError, toWireError, type WireError } from '../core/errors.ts';
import type { Invocation } from '../core/invocation.ts';
import { changeTexts } from '../core/scrub.ts';
import { complete } from '../frontends/completion/complete.ts';
import { getPrompt, listPrompts } from '../frontends/prompts/methods.ts';
import { withIcons } from '../frontends/resources/icons.ts';
import { listResources, readDirectory } from '../frontends/resources/list.ts';
import { readMetadata } from '../frontends/resources/metadata.ts';
import { readResource } from '../frontends/resources/read.ts';
import { listTemplates } from '../frontends/resources/templates.ts';
import { callTool, listTools } from '../frontends/tools/methods.ts';
import {
  callToolParams,
  completeParams,
  DIRECTORY_READ_METHOD,
  directoryReadParams,
  getPromptParams,
  listParams,
  listPromptsParams,
  listToolsParams,
  METADATA_METHOD,
  metadataParams,
  readParams,
  templatesParams,
} from '../protocol/methods.ts';
import type { Vitrine } from '../vitrine.ts';

export interface Method {
  readonly name: string;
  readonly params: z.ZodType;
  /** Takes what `params` gave. */
  readonly run: (params: unknown, invocation: Invocation) => Promise<object>;
  /** Needs no way back to the client, except that it may ask for a confirmation. */
  readonly plain: boolean;
}

type Run<S extends z.ZodType> = (params: z.infer<S>, invocation: Invocation) => Promise<object>;

function method<S extends z.ZodType>(name: string, params: S, run: Run<S>, plain = true): Method {
  return { name, params, plain, run: (checked, invocation) => run(checked as z.infer<S>, invocation) };
}

/** The methods that this engine answers, by name. Only what works is among them (SEC-CAP-1). */
export function methodsOf(vitrine: Vitrine): ReadonlyMap<string, Method> {
  const { resources, provider, gate, tools, prompts, icons } = vitrine;
  const looking = [
    method('resources/list', listParams, (params, ctx) => listResources(resources, params, ctx)),
    method('resources/read', readParams, (params, ctx) => readResource(resources, params, ctx)),
    method(METADATA_METHOD, metadataParams, (params, ctx) => readMetadata(resources, params, ctx)),
    method(DIRECTORY_READ_METHOD, directoryReadParams, (params, ctx) => readDirectory(resources, params, ctx)),
    method('resources/templates/list', templatesParams, (params, ctx) => listTemplates(resources, params, ctx)),
  ];
  const methods = looking.map((each): Method => {
    if (icons === undefined) return each;
    return { ...each, run: async (params, invocation) => withIcons(await each.run(params, invocation), icons) };
  });
  if (tools.some) {
    methods.push(
      method('tools/list', listToolsParams, (params, ctx) =>
        gate({ method: 'tools/list' }, ctx, () => listTools(tools, resources, params, ctx)),
      ),
      method(
        'tools/call',
        callToolParams,
        async (params, invocation) => {
          const { name } = params;
          const operation = {
            method: 'tools/call',
            name,
            mount: tools.mountOf(name),
            arguments: params.arguments,
            onlyResources: tools.onlyResources(name),
            exists: tools.exists(name, invocation),
          } as const;
          const run = (allowed: Invocation) => gate(operation, allowed, () => callTool(tools, params, allowed));
          const result = await withConsent(invocation, run);
          return 'isError' in result && result.isError === true ? hiddenIn(result, vitrine.hide) : result;
        },
        false,
      ),
    );
  }
  if (prompts.some) {
    methods.push(
      method('prompts/list', listPromptsParams, (params, ctx) =>
        gate({ method: 'prompts/list' }, ctx, () => listPrompts(prompts, resources, params, ctx)),
      ),
      method(
        'prompts/get',
        getPromptParams,
        async (params, invocation) => {
          const { name, arguments: given } = params;
          const place = await prompts.placeOf(name, invocation);
          const operation = { method: 'prompts/get', name, arguments: given, ...place } as const;
          return withConsent(invocation, (allowed) =>
            gate(operation, allowed, () => getPrompt(prompts, params, allowed)),
          );
        },
        false,
      ),
    );
  }
  if (provider.features.completion || prompts.some) {
    methods.push(
      method('completion/complete', completeParams, async (params, ctx) => {
        const run = () => complete(resources, prompts, params, ctx);
        // Those of resources are operations of the provider.
        if (params.ref.type !== 'ref/prompt') return run();
        const { name } = params.ref;
        return gate({ method: 'prompts/complete', name, ...(await prompts.placeOf(name, ctx)) }, ctx, run);
      }),
    );
  }
  return new Map(methods.map((each) => [each.name, admitted(vitrine, each)]));
}

/** Whether a method is there for somebody: what they could use nothing of is not declared, and not answered (SEC-CAP-1). */
export function offersTo(
  { provider, tools, prompts, toolSubscriptions, sight }: Vitrine,
  principal: Principal,
): (method: string) => boolean {
  const could = (operation: AccessOperation): boolean => sight?.could(principal, { operation }) !== false;
  const ofPrompts = (): boolean => prompts.some && could('prompt');
  return (method) => {
    // The resource tools are there for everybody: what they reach is decided resource by resource.
    if (method.startsWith('tools/')) return tools.some && (toolSubscriptions !== undefined || could('call'));
    if (method.startsWith('prompts/')) return ofPrompts();
    if (method === 'completion/complete') return (provider.features.completion && could('complete')) || ofPrompts();
    return true;
  };
}

/** The method as it runs where there is room for it: each request counts, and runs beside so many others. */
export function admitted({ admission }: Pick<Vitrine, 'admission'>, method: Method): Method {
  return {
    ...method,
    run(params, invocation) {
      const { name, uri } = params as { readonly name?: string; readonly uri?: string };
      return admission.run({ method: method.name, name, uri }, invocation, () => method.run(params, invocation));
    },
  };
}

/**
 * The `_meta` of a modern result, which says who made it. The SDK would put the whole identity into each, icons
 * included; name and version are what the specification asks for, and the rest is in `server/discover`.
 */
export function signatureOf({ identity }: Vitrine): Readonly<Record<string, unknown>> {
  return { [SERVER_INFO_META_KEY]: { name: identity.name, version: identity.version } };
}

/** Adds to the `_meta` of a result. */
export function withMeta(result: object, meta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { ...result, _meta: { ...(result as { readonly _meta?: object })._meta, ...meta } };
}

/** What is said of a failure, with nothing in it that is to be hidden: others may have said it. */
export const hiddenIn = <T extends object>(said: T, hide: Vitrine['hide']): T =>
  hide === undefined ? said : (changeTexts(said, hide) as T);

/** What a peer is told of a failure, after the log was told all of it under the same request id. */
export function wireErrorOf({ hide }: Vitrine, error: unknown, name: string, ctx: Context): WireError {
  const expected = error instanceof ResourceError && error.code !== 'internal';
  if (!ctx.signal.aborted) {
    ctx.log[expected ? 'debug' : 'error']('request failed', { method: name, requestId: ctx.requestId, error });
  }
  return hiddenIn(toWireError(error, ctx.requestId), hide);
}
