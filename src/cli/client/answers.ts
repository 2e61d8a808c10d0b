/** Puts the questions of a server to the user while a command runs. Without a terminal, the questions are declined. */
import { basename, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { pathToFileURL } from 'node:url';
import type { GuardEvent } from '../../client/guards/decisions.ts';
import { type ElicitationReview, guardElicitation } from '../../client/guards/elicitation.ts';
import type { FormField } from '../../client/guards/form.ts';
import { guardRoots } from '../../client/guards/roots.ts';
import { guardSampling } from '../../client/guards/sampling.ts';
import type { ClientTarget } from '../../client/http.ts';
import { jsonText, type Output } from './printing/output.ts';

/** The declared capabilities of a client, and the preparation that adds their handlers. */
export type Abilities = Pick<ClientTarget, 'clientOptions' | 'prepare'>;

/** Asks the user one question and returns the answer; undefined if the user gives none. */
export type Ask = (question: string, signal: AbortSignal) => Promise<string | undefined>;

/** Returns the capabilities and handlers of a command's client. @param ask asks the user. Default: at the terminal, if any */
export function abilitiesFor(
  output: Output,
  { label, roots }: { readonly label: string; readonly roots: readonly string[] },
  ask: Ask | undefined = terminalAsk(),
): Abilities {
  const onEvent = ({ guard, decision, reason, subject }: GuardEvent): void => {
    if (decision !== 'refused') return;
    const about = subject === undefined ? '' : ` (${subject})`;
    output.note(`${label}: ${WORDS[guard]} was declined: ${reason}${about}`);
  };
  const options = { server: label, onEvent };
  const folders = roots.map((root) => ({ uri: pathToFileURL(resolve(root)).href, name: basename(resolve(root)) }));
  return {
    clientOptions: {
      capabilities: {
        elicitation: { form: {}, url: {} },
        // Only a user can answer in place of a model, so sampling is declared only if there is a user.
        ...(ask !== undefined && { sampling: {} }),
        ...(folders.length > 0 && { roots: {} }),
      },
    },
    prepare(client) {
      const answer = ask === undefined ? undefined : (review: ElicitationReview) => elicited(review, output, ask);
      client.setRequestHandler('elicitation/create', guardElicitation(answer, options));
      if (folders.length > 0) client.setRequestHandler('roots/list', guardRoots(folders, options));
      if (ask === undefined) return;
      const sampling = guardSampling(
        async (_request, { mcpReq }) => {
          const text = await ask('Your answer instead of a model: ', mcpReq.signal);
          return { role: 'assistant', model: 'a person', content: { type: 'text', text: text ?? '' } };
        },
        {
          ...options,
          approve: async ({ transcript, signal }) => {
            output.note(`${label} asks a model:`);
            process.stderr.write(`${transcript}\n`);
            return isYes(await ask('Answer it? [y/N] ', signal));
          },
        },
      );
      client.setRequestHandler('sampling/createMessage', sampling);
    },
  };
}

const WORDS: Readonly<Record<GuardEvent['guard'], string>> = {
  elicitation: 'a question',
  sampling: 'a question to a model',
  roots: 'a root',
  tools: 'a tool',
  prompts: 'a prompt',
  flow: 'data for another server',
};

const isYes = (answer: string | undefined): boolean => /^y(?:es)?$/i.test(answer?.trim() ?? '');

type Answer = {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string | number | boolean | string[]>;
};

async function elicited(review: ElicitationReview, output: Output, ask: Ask): Promise<Answer> {
  const { signal } = review;
  output.note(`${review.server ?? 'The server'} asks: ${review.message}`);
  if (review.mode === 'url') {
    for (const warning of review.warnings) output.note(`careful: ${warning}`);
    output.note(`it wants you to open ${review.url}`);
    return { action: isYes(await ask('Have you opened it, and agree? [y/N] ', signal)) ? 'accept' : 'decline' };
  }
  const content: NonNullable<Answer['content']> = {};
  for (const field of review.fields) {
    const value = await filled(field, output, ask, signal);
    if (value === 'declined') return { action: 'decline' };
    if (value !== undefined) content[field.name] = value.value;
  }
  return isYes(await ask('Send this? [y/N] ', signal)) ? { action: 'accept', content } : { action: 'decline' };
}

type Value = string | number | boolean | string[];

/** How many answers that do not fit the user may give for one field. After these, the whole question is declined. */
const MAX_TRIES = 3;

/** Asks for the value of one field; undefined if an optional field is left empty, `declined` without an answer that fits. */
async function filled(
  field: FormField,
  output: Output,
  ask: Ask,
  signal: AbortSignal,
): Promise<{ readonly value: Value } | 'declined' | undefined> {
  if (field.description !== undefined) output.note(field.description);
  for (const [index, { title }] of field.options.entries()) output.note(`  ${index + 1}  ${title}`);
  const standard = field.default === undefined ? '' : ` [${shownDefault(field.default)}]`;
  const optional = field.required ? '' : ', or nothing';
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const typed = await ask(`${field.title} (${hintOf(field)}${optional})${standard}: `, signal);
    if (typed === undefined) return 'declined';
    if (typed === '' && field.default !== undefined) return { value: field.default as Value };
    if (typed === '' && !field.required) return undefined;
    const value = answerOf(field, typed.trim());
    if (value !== undefined) return { value };
    output.note('that does not fit');
  }
  return 'declined';
}

/** The default is as the server wrote it, so it is escaped for the terminal. */
const shownDefault = (value: unknown): string => jsonText(value).slice(0, 100);

function hintOf({ type, format }: FormField): string {
  switch (type) {
    case 'boolean':
      return 'y or n';
    case 'choice':
      return 'a number of the list';
    case 'choices':
      return 'numbers of the list, with commas between';
    case 'string':
      return format ?? 'text';
    default:
      return type;
  }
}

/** Converts typed text to a value of the field; undefined if it does not fit. The guard checks lengths and ranges. */
export function answerOf({ type, options }: FormField, typed: string): Value | undefined {
  const picked = (text: string): string | undefined =>
    options[Number(text) - 1]?.value ?? options.find((option) => option.value === text || option.title === text)?.value;
  switch (type) {
    case 'boolean':
      return /^(?:y|yes|true)$/i.test(typed) ? true : /^(?:n|no|false)$/i.test(typed) ? false : undefined;
    case 'number':
    case 'integer': {
      const value = typed === '' ? Number.NaN : Number(typed);
      return Number.isFinite(value) && (type === 'number' || Number.isInteger(value)) ? value : undefined;
    }
    case 'choice':
      return picked(typed);
    case 'choices': {
      const values = typed.split(',').map((part) => picked(part.trim()));
      return values.some((value) => value === undefined) ? undefined : values.filter((value) => value !== undefined);
    }
    case 'string':
      return typed;
  }
}

/** Returns a function that asks at the terminal, one question after the other; undefined without a terminal. */
function terminalAsk(): Ask | undefined {
  const { stdin, stderr } = process;
  if (stdin.isTTY !== true || stderr.isTTY !== true) return undefined;
  let before: Promise<unknown> = Promise.resolve();
  const askNow: Ask = async (question, signal) => {
    const lines = createInterface({ input: stdin, output: stderr });
    // While readline reads, Ctrl+C is a character and no signal, so the signal is sent here.
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    const ended = new Promise<undefined>((done) => lines.once('close', () => done(undefined)));
    try {
      return await Promise.race([lines.question(question, { signal }), ended]);
    } catch {
      return undefined;
    } finally {
      lines.close();
    }
  };
  return (question, signal) => {
    const answer = before.then(() => askNow(question, signal));
    before = answer;
    return answer;
  };
}
