/** One file of a folder as a prompt. */
import type { Prompt } from '../../../core/prompt.ts';
import type { ResourceOptions } from '../../resources/options.ts';
import { completeArgument } from './complete.ts';
import { splitPrompt } from './head.ts';
import { renderMessages } from './render.ts';
import { parseTemplate } from './template.ts';

/** The end of the name of a file that is a prompt. */
export const PROMPT_SUFFIX = '.md';

/**
 * @param fileName names the prompt when its front matter does not
 * @param resources what `{{resource uri}}` reads from
 * @throws LineFault
 */
export async function promptOfFile(fileName: string, text: string, resources: ResourceOptions): Promise<Prompt> {
  const { head, body, before } = await splitPrompt(text);
  const { title, description, icons, arguments: declared } = head;
  const nodes = parseTemplate(body, new Set(declared.map((argument) => argument.name)), before);
  return {
    name: head.name ?? fileName.slice(0, -PROMPT_SUFFIX.length),
    title,
    description,
    icons,
    arguments: declared.map(({ values: _values, ...argument }) => argument),
    get: async (values, ctx) => ({
      ...(description !== undefined && { description }),
      messages: await renderMessages(nodes, declared, values, resources, ctx),
    }),
    complete: async (name, value, known, ctx) => {
      const argument = declared.find((each) => each.name === name);
      return argument === undefined ? [] : completeArgument(argument, value, known, nodes, resources.provider, ctx);
    },
  };
}
