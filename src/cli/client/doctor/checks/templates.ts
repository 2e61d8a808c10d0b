/** Checks of URI templates, and of completion for their variables and for arguments of prompts. */

import { parseUriTemplate } from '../../../../core/uri-template.ts';
import { type Data, isData } from '../../../../protocol/data.ts';
import { type Check, type CheckContext, notApplicable, ok, problems } from '../check.ts';
import { nameOf } from '../examined.ts';
import { answerText } from '../wire.ts';

const group = 'Templates and completion';

const templatesIn = async ({ examined }: CheckContext): Promise<readonly string[]> =>
  (await examined.list('templates')).entries
    .filter(isData)
    .flatMap(({ uriTemplate }) => (typeof uriTemplate === 'string' ? [uriTemplate] : []));

/** The most variables and arguments whose completion is tried. */
const MAX_TRIED = 10;

/** The most values that one answer to a completion may have. */
const MAX_VALUES = 100;

export const TEMPLATE_CHECKS: readonly Check[] = [
  {
    id: 'template-valid',
    group,
    title: 'Every URI template is valid',
    clause: 'RFC 6570; server/resources, Resource Templates',
    level: 'error',
    async run(ctx) {
      const templates = await templatesIn(ctx);
      if (templates.length === 0) return notApplicable('There are no templates');
      const seen = templates.flatMap((template) => {
        const parsed = parsedOf(template);
        return 'why' in parsed ? [`${template}: ${parsed.why}`] : [];
      });
      return problems(seen, 'Write {name}, {+path}, {?query*}: names of letters, digits, _ and dots.');
    },
  },
  {
    id: 'template-variables',
    group,
    title: 'Every template has a variable',
    clause: 'server/resources, Resource Templates',
    level: 'warning',
    async run(ctx) {
      const templates = await templatesIn(ctx);
      if (templates.length === 0) return notApplicable('There are no templates');
      const seen = templates.filter((template) => {
        const parsed = parsedOf(template);
        return 'variables' in parsed && parsed.variables.length === 0;
      });
      return problems(seen, 'List a template without variables as a resource instead.');
    },
  },
  {
    id: 'completion',
    group,
    title: 'Arguments and variables can be completed',
    clause: 'server/utilities/completion',
    level: 'error',
    async run(ctx) {
      const { wire, capabilities } = ctx;
      if (!isData(capabilities.completions)) return notApplicable('Completions are not declared');
      const fields = await argumentsIn(ctx);
      if (fields.length === 0) return notApplicable('There are no variables or arguments to complete');
      const seen: string[] = [];
      for (const { ref, name } of fields.slice(0, MAX_TRIED)) {
        const answer = await wire.ask('completion/complete', { ref, argument: { name, value: '' } });
        const what = `${name} of ${nameOf(ref.uri ?? ref.name)}`;
        const { completion } = answer.kind === 'result' ? answer.result : {};
        const values = isData(completion) ? completion.values : undefined;
        if (!Array.isArray(values) || !values.every((value) => typeof value === 'string')) {
          seen.push(
            `${what}: ${answer.kind === 'result' ? 'completion.values is no list of texts' : answerText(answer)}`,
          );
        } else if (values.length > MAX_VALUES) seen.push(`${what}: ${values.length} values`);
      }
      if (seen.length > 0)
        return problems(seen, `Answer { completion: { values } } with up to ${MAX_VALUES} texts, or none.`);
      return ok(`${Math.min(fields.length, MAX_TRIED)} of ${fields.length} were tried`);
    },
  },
  {
    id: 'completion-unknown',
    group,
    title: 'Completion for an unknown prompt is refused',
    clause: 'server/utilities/completion, Error Handling',
    level: 'warning',
    async run({ wire, capabilities }) {
      if (!isData(capabilities.completions)) return notApplicable('Completions are not declared');
      const ref = { type: 'ref/prompt', name: 'vitrine-doctor-no-such-prompt' };
      const answer = await wire.ask('completion/complete', { ref, argument: { name: 'x', value: '' } });
      if (answer.kind === 'error' && answer.error.code === -32_602) return ok();
      return problems([answerText(answer)], 'Answer -32602 (Invalid params) for an unknown prompt or template.');
    },
  },
];

function parsedOf(template: string): { readonly variables: readonly string[] } | { readonly why: string } {
  try {
    return { variables: parseUriTemplate(template).variables };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

interface Argument {
  readonly ref: Data;
  readonly name: string;
}

/** Returns everything that can be completed: by turns a variable of a template and an argument of a prompt. */
async function argumentsIn(ctx: CheckContext): Promise<readonly Argument[]> {
  const ofTemplates = (await templatesIn(ctx)).flatMap((uri) => {
    const parsed = parsedOf(uri);
    return 'variables' in parsed ? parsed.variables.map((name) => ({ ref: { type: 'ref/resource', uri }, name })) : [];
  });
  const prompts = (await ctx.examined.list('prompts')).entries.filter(isData);
  const ofPrompts = prompts.flatMap(({ name: prompt, arguments: listed }) =>
    (Array.isArray(listed) ? listed : [])
      .filter(isData)
      .flatMap(({ name }) => (typeof name === 'string' ? [{ ref: { type: 'ref/prompt', name: prompt }, name }] : [])),
  );
  const longest = Math.max(ofTemplates.length, ofPrompts.length);
  return Array.from({ length: longest }, (_, at) => [ofTemplates[at], ofPrompts[at]])
    .flat()
    .filter((argument) => argument !== undefined);
}
