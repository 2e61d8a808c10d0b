/** Checks of prompts, and of all icons. */
import { type Data, isData } from '../../../../protocol/data.ts';
import { type Check, type CheckContext, notApplicable, ok, problem, problems } from '../check.ts';
import { LIST_NAMES, LISTS, nameOf, repeatedIn } from '../examined.ts';
import { answerText } from '../wire.ts';
import { serverInfoOf } from './connection.ts';

const group = 'Prompts';

const promptsIn = async ({ examined }: CheckContext): Promise<readonly Data[]> =>
  (await examined.list('prompts')).entries.filter(isData);

const argumentsOf = ({ arguments: listed }: Data): readonly unknown[] => (Array.isArray(listed) ? listed : []);

/** The most prompts that are requested. */
const MAX_REQUESTED = 5;

export const PROMPT_CHECKS: readonly Check[] = [
  {
    id: 'prompt-arguments',
    group,
    title: 'No two arguments of a prompt have the same name',
    clause: 'schema, Prompt, PromptArgument',
    level: 'error',
    async run(ctx) {
      const prompts = await promptsIn(ctx);
      if (prompts.length === 0) return notApplicable('There are no prompts');
      const seen = prompts.flatMap((prompt) => {
        const names = argumentsOf(prompt).map((argument) => (isData(argument) ? argument.name : undefined));
        const wrong = prompt.arguments !== undefined && !Array.isArray(prompt.arguments);
        return [
          ...(wrong ? [`${nameOf(prompt.name)}: arguments is no list`] : []),
          ...names
            .filter((name) => typeof name !== 'string')
            .map(() => `${nameOf(prompt.name)}: an argument has no name`),
          ...repeatedIn(names).map((name) => `${nameOf(prompt.name)}: ${nameOf(name)} is there twice`),
        ];
      });
      return problems(seen, 'Send arguments: [{ name, description, required }].');
    },
  },
  {
    id: 'prompt-get',
    group,
    title: 'Prompts without required arguments can be got',
    clause: 'server/prompts, Getting a Prompt',
    level: 'error',
    async run(ctx) {
      const prompts = (await promptsIn(ctx)).filter((prompt) =>
        argumentsOf(prompt).every((argument) => isData(argument) && argument.required !== true),
      );
      if (prompts.length === 0) return notApplicable('There is no prompt without required arguments');
      const seen: string[] = [];
      for (const { name } of prompts.slice(0, MAX_REQUESTED)) {
        const answer = await ctx.wire.ask('prompts/get', { name, arguments: {} });
        const messages = answer.kind === 'result' ? answer.result.messages : undefined;
        if (answer.kind !== 'result') seen.push(`${nameOf(name)}: ${answerText(answer)}`);
        else if (!Array.isArray(messages) || !messages.every(isMessage)) {
          seen.push(`${nameOf(name)}: messages are no list of { role, content }`);
        }
      }
      return problems(seen, 'Answer { messages: [{ role: "user", content: { type: "text", text } }] }.');
    },
  },
  {
    id: 'prompt-unknown',
    group,
    title: 'An unknown prompt is refused with -32602',
    clause: 'server/prompts, Error Handling',
    level: 'warning',
    async run({ wire, capabilities }) {
      if (!isData(capabilities.prompts)) return notApplicable('No prompts are declared');
      const answer = await wire.ask('prompts/get', { name: 'vitrine-doctor-no-such-prompt' });
      if (answer.kind === 'error' && answer.error.code === -32_602) return ok();
      const mend = 'Answer with the error -32602 (Invalid params).';
      return problem(answerText(answer), mend, answer.kind === 'error' ? 'warning' : 'error');
    },
  },
  {
    id: 'icons',
    group: 'Connection',
    title: 'Icons can be shown',
    clause: 'schema, Icon; SEP-973',
    level: 'error',
    async run({ hello, examined }) {
      const found: { readonly of: string; readonly icons: unknown }[] = [];
      const info = serverInfoOf(hello);
      if (info?.icons !== undefined) found.push({ of: 'the server', icons: info.icons });
      for (const name of LIST_NAMES) {
        for (const entry of (await examined.list(name)).entries.filter(isData)) {
          if (entry.icons !== undefined) found.push({ of: nameOf(entry[LISTS[name].id]), icons: entry.icons });
        }
      }
      if (found.length === 0) return notApplicable('There are no icons');
      const seen = found.flatMap(({ of, icons }) => iconProblems(icons).map((why) => `${of}: ${why}`));
      return problems(
        seen,
        'src: https: or data:; mimeType: image/...; sizes: ["48x48"] or ["any"]; theme: light or dark.',
      );
    },
  },
];

const isMessage = (message: unknown): boolean =>
  isData(message) &&
  (message.role === 'user' || message.role === 'assistant') &&
  isData(message.content) &&
  typeof message.content.type === 'string';

function iconProblems(icons: unknown): readonly string[] {
  if (!Array.isArray(icons)) return ['icons is no list'];
  return icons.flatMap((icon) => {
    if (!isData(icon) || typeof icon.src !== 'string') return ['an icon has no src'];
    const { src, mimeType, sizes, theme } = icon;
    const isSizes =
      Array.isArray(sizes) && sizes.every((size) => typeof size === 'string' && /^(?:any|\d+x\d+)$/.test(size));
    return [
      // A host that runs as a page over HTTPS does not load icons over plain HTTP, except from this machine.
      ...(/^(?:https:\/\/|data:image\/|http:\/\/(?:localhost|127\.|\[::1\]))/i.test(src)
        ? []
        : [`src is ${src.slice(0, 60)}`]),
      ...(mimeType === undefined || (typeof mimeType === 'string' && mimeType.startsWith('image/'))
        ? []
        : [`mimeType is ${nameOf(mimeType)}`]),
      ...(sizes === undefined || isSizes ? [] : [`sizes is ${JSON.stringify(sizes)}`]),
      ...(theme === undefined || theme === 'light' || theme === 'dark' ? [] : [`theme is ${nameOf(theme)}`]),
    ];
  });
}
