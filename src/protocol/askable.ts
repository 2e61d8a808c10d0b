/** Decides from the declared capabilities of a client which questions it can be asked (SEC-SAMP-2). */
import { type Data, isData } from './data.ts';
import type { InputRequest } from './input-required.ts';

/** Returns the capability, with its part, that a client must have declared to be asked this; undefined for unknown methods. */
export function neededFor({ method, params }: InputRequest): Data | undefined {
  switch (method) {
    case 'elicitation/create':
      return { elicitation: params.mode === 'url' ? { url: {} } : { form: {} } };
    case 'sampling/createMessage':
      return { sampling: params.tools !== undefined || params.toolChoice !== undefined ? { tools: {} } : {} };
    case 'roots/list':
      return { roots: {} };
    default:
      return undefined;
  }
}

/**
 * Returns the needed capability, with its part, if the client has not declared it; undefined if it has. A client that
 * declares `elicitation` without any mode can be asked by a form.
 */
export function missingOf(needed: Data, declared: Data | undefined): Data | undefined {
  for (const [capability, parts] of Object.entries(needed)) {
    const declaredParts = declared?.[capability];
    if (declaredParts === undefined) return { [capability]: parts };
    if (!isData(declaredParts)) continue;
    const [part] = Object.keys(parts as Data);
    const { form, url } = declaredParts;
    const implied = capability === 'elicitation' && part === 'form' && form === undefined && url === undefined;
    if (part !== undefined && declaredParts[part] === undefined && !implied) return { [capability]: parts };
  }
  return undefined;
}

/** Whether a client with these declared capabilities can be asked this. No client can be asked by an unknown method. */
export function canBeAsked(
  request: { readonly method: string; readonly params?: Data | undefined },
  declared: Data | undefined,
): boolean {
  const needed = neededFor({ params: {}, ...request } as InputRequest);
  return needed !== undefined && missingOf(needed, declared) === undefined;
}

/** Returns the error message for a question that the client cannot be asked. */
export const notDeclared = (method: string): string => `The client has not declared that it can be asked for ${method}`;
