/**
 * A server with tools and a prompt of its own beside its resources: one tool with structured results, one that reports
 * progress, one that asks the user before it acts.
 * With Node 22.18 or newer, for a host to start: node examples/own-tools.ts
 */
import { fileURLToPath } from 'node:url';
import {
  accepted,
  createVitrine,
  definePrompt,
  defineTool,
  elicitation,
  inputRequired,
  notFound,
  refused,
  resourceBlock,
  serveStdio,
  textBlock,
  type Vitrine,
} from 'vitrine';
import { type MemoryProvider, memoryProvider } from 'vitrine/providers/memory';
import { z } from 'zod';

export function createExample(): { readonly vitrine: Vitrine; readonly notes: MemoryProvider } {
  const texts = new Map([
    ['shopping.md', '# Shopping\n\nBread, ink, a spring for the carriage clock.\n'],
    ['ideas.md', '# Ideas\n\nA room for things that tick.\n'],
  ]);
  const notes = memoryProvider({ name: 'notes', scheme: 'note' });
  for (const [name, text] of texts) notes.set(name, { text });

  /** @throws ResourceError, which the model reads as the reason why the tool failed */
  function textOf(name: string): string {
    const text = texts.get(name);
    if (text === undefined) throw notFound(`note:///${name}`);
    return text;
  }

  const wordsOf = (text: string): number => text.match(/\p{Letter}+/gu)?.length ?? 0;

  const measure = defineTool({
    name: 'measure',
    title: 'Measure a note',
    description: 'Counts the lines and words of a note',
    annotations: { readOnlyHint: true },
    inputSchema: z.object({ name: z.string().describe('Such as ideas.md') }),
    outputSchema: z.object({ lines: z.number().int(), words: z.number().int() }),
    run({ name }) {
      const text = textOf(name);
      const counted = { lines: text.split('\n').length - 1, words: wordsOf(text) };
      // The same as text, for hosts that show only text.
      return { structuredContent: counted, content: [textBlock(JSON.stringify(counted))] };
    },
  });

  const survey = defineTool({
    name: 'survey',
    title: 'Count all words',
    description: 'Counts the words of all notes',
    annotations: { readOnlyHint: true },
    inputSchema: z.object({}),
    run(_args, invocation) {
      let words = 0;
      for (const [index, text] of [...texts.values()].entries()) {
        invocation.signal.throwIfAborted();
        words += wordsOf(text);
        invocation.progress(index + 1, texts.size);
      }
      return `${words} words in ${texts.size} notes`;
    },
  });

  const confirmation = z.object({ sure: z.boolean() });

  const discard = defineTool({
    name: 'discard',
    title: 'Discard a note',
    description: 'Discards a note, after the user has said yes',
    annotations: { destructiveHint: true },
    inputSchema: z.object({ name: z.string() }),
    async run({ name }, { answers }) {
      textOf(name);
      if (refused(answers.sure)) return `${name} was kept: the user said no`;
      const form = await accepted(answers.sure, confirmation);
      if (form === undefined) {
        const properties = { sure: { type: 'boolean', title: 'Discard it', default: false } };
        return inputRequired({
          sure: elicitation(`Discard ${name}? It is gone then.`, { type: 'object', properties, required: ['sure'] }),
        });
      }
      if (!form.sure) return `${name} was kept: the user said no`;
      texts.delete(name);
      notes.delete(name);
      return `${name} is gone`;
    },
  });

  const review = definePrompt({
    name: 'review',
    title: 'Review a note',
    description: 'Asks for a review of one note',
    arguments: [{ name: 'name', description: 'Such as ideas.md', required: true }],
    complete: () => [...texts.keys()],
    get: ({ name = '' }) => ({
      messages: [
        { role: 'user', content: textBlock('What is missing in this note?') },
        {
          role: 'user',
          content: resourceBlock({ uri: `note:///${name}`, mimeType: 'text/markdown', text: textOf(name) }),
        },
      ],
    }),
  });

  const vitrine = createVitrine({
    server: { name: 'notes', title: 'Notes with tools' },
    mounts: [{ name: 'notes', provider: notes, prefix: 'none' }],
    tools: [measure, survey, discard],
    prompts: [review],
  });
  return { vitrine, notes };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { vitrine } = createExample();
  await serveStdio(vitrine).closed;
  await vitrine.close();
}
