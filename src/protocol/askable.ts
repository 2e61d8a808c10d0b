/** Tells what a client can be asked, by what it has declared (SEC-SAMP-2). */
import { type Data, isData } from './data.ts';
import type { InputRequest } from './input-required.ts';

/** Returns the capability, and the part of it, that a client must have declared to be asked this. */
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

/** The part of what is needed that was not declared. An `elicitation` that names no mode is one of forms. */
export function missingOf(needed: Data, declared: Data | undefined): Data | undefined {
  for (const [capability, parts] of Object.entries(needed)) {
    const given = declared?.[capability];
    if (given === undefined) return { [capability]: parts };
    if (!isData(given)) continue;
    const [part] = Object.keys(parts as Data);
    const implied =
      capability === 'elicitation' && part === 'form' && given.form === undefined && given.url === undefined;
    if (part !== undefined && given[part] === undefined && !implied) return { [capability]: parts };
  }
  return undefined;
}

/** Whether a client that declared this can be asked that. What no client can be asked, it cannot. */
export function canBeAsked(
  request: { readonly method: string; readonly params?: Data | undefined },
  declared: Data | undefined,
): boolean {
  const needed = neededFor({ params: {}, ...request } as InputRequest);
  return needed !== undefined && missingOf(needed, declared) === undefined;
}

/** Returns the error message for a question that the client cannot be asked. */
export const notDeclared = (method: string): string => `The client has not declared that it can be asked for ${method}`;
