/** Makes a prompt from one file of a folder. */
import type { Prompt } from '../../../core/prompt.ts';
import type { ResourceOptions } from '../../resources/options.ts';
import { completeArgument } from './complete.ts';
import { splitPrompt } from './head.ts';
import { renderMessages } from './render.ts';
import { parseTemplate } from './template.ts';

/** The file name extension of prompts. */
export const PROMPT_SUFFIX = '.md';

/**
 * Makes a prompt from the text of a file.
 * @param fileName gives the prompt its name if the front matter does not
 * @param resources the resources that `{{resource uri}}` reads
 * @throws LineFault for a mistake in the file, with its line
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
