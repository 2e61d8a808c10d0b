/** Serves a document that tells who may do what, and by which rule, like `vitrine explain`. */
import type { Context, Principal } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { Owner } from '../../core/operations.ts';
import { changeTexts } from '../../core/text/scrub.ts';
import type { StateDocument } from '../../frontends/state.ts';
import { type Access, type Explained, principalCalled, questionsAbout } from '../../layers/access/index.ts';
import type { Resource } from '../../protocol/resources.ts';

/** The parts of the server that an explanation needs. */
export interface Explaining {
  /** Describes a resource as the caller may see it. */
  metadata(uri: string, ctx: Context): Promise<Resource>;
  mountOf(uri: string): string | undefined;
  ownerOfTool(name: string): Owner;
  ownerOfPrompt(name: string, ctx: Context): Promise<Owner>;
  /** Removes from a text what no client may see. */
  readonly hide?: ((text: string) => string) | undefined;
}

const PARAMETERS = ['uri', 'subject', 'issuer', 'client', 'groups', 'scopes', 'tool', 'prompt'] as const;

const HOW_TO_ASK =
  'Say who in the query, as subject=ada or subject=anonymous, and one of uri, tool and prompt; groups and scopes are separated by commas';

export const explainDocument = (parts: Explaining, access: Access): StateDocument => ({
  name: 'explain',
  title: 'Who may do what',
  description:
    'What somebody may do with a URI, a tool or a prompt, and the rule that says so. The subject is as its issuer calls it, or anonymous; groups and scopes are separated by commas',
  forOperators: true,
  parameters: PARAMETERS,
  async of(ctx, query) {
    const subject = query.get('subject');
    const about = aboutOf(query);
    if (subject === undefined || subject === '' || about === undefined) throw invalid(HOW_TO_ASK);
    const principal = principalCalled({
      subject,
      issuer: query.get('issuer') || undefined,
      client: query.get('client') || undefined,
      groups: listIn(query.get('groups')),
      scopes: listIn(query.get('scopes')),
    });
    const { id: _id, ...who } = principal;
    const explained = await explain(about, principal, ctx, parts, access);
    return changeTexts({ who: { subject, ...who }, ...explained }, parts.hide ?? ((text) => text));
  },
});

interface About {
  readonly kind: 'uri' | 'tool' | 'prompt';
  readonly value: string;
}

/** Returns the URI, tool or prompt that the query names; undefined unless it is exactly one. Empty texts do not count. */
function aboutOf(query: ReadonlyMap<string, string>): About | undefined {
  const named = (['uri', 'tool', 'prompt'] as const).flatMap((kind): About[] => {
    const value = query.get(kind);
    return value === undefined || value === '' ? [] : [{ kind, value }];
  });
  return named.length === 1 ? named[0] : undefined;
}

const listIn = (text = ''): readonly string[] => text.split(/[\s,]+/).filter((word) => word !== '');

async function explain(
  { kind, value }: About,
  principal: Principal,
  ctx: Context,
  parts: Explaining,
  access: Access,
): Promise<object> {
  switch (kind) {
    case 'tool': {
      const { mount, onlyResources } = parts.ownerOfTool(value);
      const call = { operation: 'call', name: value, arguments: {}, mount, onlyResources } as const;
      return { tool: value, decisions: [await access.explain(call, principal)] };
    }
    case 'prompt': {
      const { mount } = await parts.ownerOfPrompt(value, ctx);
      return {
        prompt: value,
        decisions: [await access.explain({ operation: 'prompt', name: value, mount }, principal)],
      };
    }
    case 'uri': {
      const resource = value.includes('{') ? undefined : await seenBy(ctx, value, parts);
      const uri = resource?.uri ?? value;
      const operations = questionsAbout(uri).map((each) => ({ ...each, resource, mount: parts.mountOf(uri) }));
      const decisions: readonly Explained[] = await Promise.all(
        operations.map((operation) => access.explain(operation, principal)),
      );
      return { uri, ...(!value.includes('{') && { seen: resource !== undefined }), decisions };
    }
  }
}

/** Returns the resource as the caller sees it; undefined if the caller may not see it or it does not exist. */
async function seenBy(ctx: Context, uri: string, { metadata }: Explaining): Promise<Resource | undefined> {
  try {
    return await metadata(uri, { ...ctx, decided: undefined, notes: undefined, purpose: undefined });
  } catch (error) {
    if (error instanceof ResourceError) return undefined;
    throw error;
  }
}
