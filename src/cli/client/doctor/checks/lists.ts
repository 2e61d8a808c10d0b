/** Checks of lists: their pages and entries. */
import { hasHiddenText } from '../../../../client/safety/terminal.ts';
import { isData } from '../../../../protocol/data.ts';
import { type Check, type CheckContext, notApplicable, ok, problems } from '../check.ts';
import { LIST_NAMES, LISTS, type Listed, nameOf, repeatedIn } from '../examined.ts';
import { answerText } from '../wire.ts';

const group = 'Lists';

const listsOf = async ({ examined }: CheckContext): Promise<readonly Listed[]> => {
  const all: Listed[] = [];
  for (const name of LIST_NAMES) all.push(await examined.list(name));
  return all.filter(({ declared, pages }) => declared && pages.length > 0);
};

const NONE = 'There is no list';

/** Fields that an entry of each list must have. */
const NEEDED: Readonly<Record<Listed['name'], readonly string[]>> = {
  resources: ['uri', 'name'],
  templates: ['uriTemplate', 'name'],
  tools: ['name'],
  prompts: ['name'],
  skills: ['uri'],
};

const TEXTS = ['title', 'description', 'mimeType'] as const;

export const LIST_CHECKS: readonly Check[] = [
  {
    id: 'list-form',
    group,
    title: 'Lists are arrays, and their entries have all required fields',
    clause: 'schema, ListResourcesResult, Resource, ResourceTemplate, Tool, Prompt',
    level: 'error',
    async run(ctx) {
      const lists = await listsOf(ctx);
      if (lists.length === 0) return notApplicable(NONE);
      const seen = lists.flatMap(({ name, pages, entries }) => {
        const { field, id, method } = LISTS[name];
        return [
          ...pages.filter((page) => !Array.isArray(page[field])).map(() => `${method}: ${field} is not an array`),
          ...entries.flatMap((entry) => {
            if (!isData(entry)) return [`${method}: ${nameOf(entry).slice(0, 80)} is not an object`];
            const missing = NEEDED[name].filter((key) => typeof entry[key] !== 'string' || entry[key] === '');
            const wrong = TEXTS.filter((key) => entry[key] !== undefined && typeof entry[key] !== 'string');
            const sizeIsValid = entry.size === undefined || (typeof entry.size === 'number' && entry.size >= 0);
            return [
              ...missing.map((key) => `${method}: ${nameOf(entry[id])} has no ${key}`),
              ...wrong.map((key) => `${method}: the ${key} of ${nameOf(entry[id])} is not a text`),
              ...(sizeIsValid ? [] : [`${method}: the size of ${nameOf(entry[id])} is not a number of bytes`]),
            ];
          }),
        ];
      });
      return problems(seen, 'Send every field that the schema requires, with its type; leave out unknown fields.');
    },
  },
  {
    id: 'list-unique',
    group,
    title: 'Nothing is listed twice',
    clause: 'server/resources, Data Types (a URI is unique); server/tools, server/prompts (a name is)',
    level: 'error',
    async run(ctx) {
      const lists = await listsOf(ctx);
      if (lists.length === 0) return notApplicable(NONE);
      const seen = lists
        .filter(({ ended }) => ended === 'end')
        .flatMap(({ name, entries }) => {
          const { id, method } = LISTS[name];
          const ids = entries.filter(isData).map((entry) => entry[id]);
          const repeated = new Set(repeatedIn(ids.filter((value) => value !== undefined)));
          return [...repeated].map((value) => `${method}: ${nameOf(value)}`);
        });
      return problems(seen, 'Give each entry a unique id, and send each entry on only one page.');
    },
  },
  {
    id: 'pages-end',
    group,
    title: 'Every list has a last page',
    clause: 'server/utilities/pagination',
    level: 'error',
    async run(ctx) {
      const lists = await listsOf(ctx);
      if (lists.length === 0) return notApplicable(NONE);
      const wrong = lists.flatMap(({ name, ended, pages, failure }) => {
        const { method } = LISTS[name];
        if (ended === 'repeated-cursor') return [`${method}: a cursor was repeated on page ${pages.length}`];
        if (ended === 'max-pages') {
          return pages.every((page) => isEmpty(page[LISTS[name].field]))
            ? [`${method}: ${pages.length} empty pages`]
            : [];
        }
        return ended === 'failed' ? [`${method}: page ${pages.length + 1}: ${answerText(failure ?? NO_FAILURE)}`] : [];
      });
      if (wrong.length > 0) {
        return problems(wrong, 'Send a cursor only where another page follows, and a different one with each page.');
      }
      const odd = lists.flatMap(({ name, pages }) =>
        pages
          .filter(({ nextCursor }) => nextCursor !== undefined && (typeof nextCursor !== 'string' || nextCursor === ''))
          .map(({ nextCursor }) => `${LISTS[name].method}: nextCursor is ${JSON.stringify(nextCursor)}`),
      );
      if (odd.length > 0)
        return problems(
          odd,
          'Leave nextCursor out on the last page; it must be a text that leads to another page.',
          'warning',
        );
      return ok(...lists.map(({ name, pages, entries }) => `${name}: ${entries.length} on ${pages.length} page(s)`));
    },
  },
  {
    id: 'pages-stable',
    group,
    title: 'The same cursor gives the same page again',
    clause: 'server/utilities/pagination',
    level: 'warning',
    async run(ctx) {
      const lists = await listsOf(ctx);
      if (lists.length === 0) return notApplicable(NONE);
      const seen: string[] = [];
      for (const { name, pages } of lists) {
        const { method, field, id } = LISTS[name];
        const idsOf = (page: unknown): string =>
          JSON.stringify(Array.isArray(page) ? page.map((entry) => (isData(entry) ? entry[id] : entry)) : page);
        // The first page and the one after it.
        for (const [at, page] of pages.slice(0, 2).entries()) {
          const cursor = at === 0 ? undefined : pages[at - 1]?.nextCursor;
          const answer = await ctx.wire.ask(method, cursor === undefined ? {} : { cursor });
          if (answer.kind !== 'result') seen.push(`${method}: page ${at + 1} again: ${answerText(answer)}`);
          else if (idsOf(answer.result[field]) !== idsOf(page[field])) {
            seen.push(`${method}: page ${at + 1} has other entries, or another order, when it is requested again`);
          }
        }
      }
      return problems(seen, 'List in a stable order, and accept cursors repeatedly.');
    },
  },
  {
    id: 'cursor-refused',
    group,
    title: 'A cursor that the server never gave is refused with -32602',
    clause: 'server/utilities/pagination, Error Handling',
    level: 'warning',
    async run(ctx) {
      const lists = await listsOf(ctx);
      if (lists.length === 0) return notApplicable(NONE);
      const seen: string[] = [];
      for (const { name } of lists) {
        const { method } = LISTS[name];
        const answer = await ctx.wire.ask(method, { cursor: 'vitrine-doctor: no such cursor' });
        if (answer.kind !== 'error' || answer.error.code !== -32_602) seen.push(`${method}: ${answerText(answer)}`);
      }
      return problems(
        seen,
        'Refuse unknown cursors: a client that sends one would mistake the first page for the next.',
      );
    },
  },
  {
    id: 'names-shown',
    group,
    title: 'Names and descriptions contain nothing that acts or hides when shown',
    clause: 'server/tools, Security Considerations; SEP-973',
    level: 'warning',
    async run(ctx) {
      const lists = await listsOf(ctx);
      if (lists.length === 0) return notApplicable(NONE);
      const seen = lists.flatMap(({ name, entries }) =>
        entries
          .filter(isData)
          .flatMap((entry) =>
            ['name', 'title', 'description']
              .filter((key) => typeof entry[key] === 'string' && hasHiddenText(entry[key]))
              .map((key) => `${LISTS[name].method}: the ${key} of ${JSON.stringify(entry[LISTS[name].id])}`),
          ),
      );
      return problems(
        seen,
        'Leave out control characters, terminal escapes, and characters that reverse or hide text: hosts refuse or strip them.',
      );
    },
  },
];

const NO_FAILURE = { kind: 'none', why: 'no answer' } as const;

const isEmpty = (page: unknown): boolean => Array.isArray(page) && page.length === 0;
