/** Providers with wrong templates and completions. */
import { type Broken, completing, featuring, like } from './broken.ts';

export const BROKEN_TEMPLATES: readonly Broken[] = [
  {
    defect: 'lists an invalid template',
    law: 'templates are the same',
    says: /template/i,
    break: (inner) =>
      like(inner, {
        listTemplates: async () => ({ resourceTemplates: [{ uriTemplate: 'memory:///{path', name: 'x' }] }),
      }),
  },
  {
    defect: 'says that it has no templates, and lists one',
    law: 'templates are the same',
    says: /deep-equal/,
    break: (inner) => featuring(inner, { templates: false }),
  },
  {
    defect: 'completes to names that are not escaped',
    law: 'each completed value expands',
    says: /has no fragment/,
    break: (inner) =>
      completing(inner, async (request, ctx) => {
        const completed = await inner.complete?.(request, ctx);
        const values = (completed?.values ?? []).map((value) => value.replaceAll('%25', '%').replaceAll('%23', '#'));
        return { values, hasMore: false };
      }),
  },
  {
    defect: 'completes to nothing',
    law: 'each completed value expands',
    says: /No completion of any template led to a resource/,
    break: (inner) => completing(inner, async () => ({ values: [], hasMore: false })),
  },
  {
    defect: 'completes beyond the limit',
    law: 'completion stays within its limit',
    says: /With limit 1/,
    break: (inner) =>
      completing(inner, async (request, ctx) => {
        return (await inner.complete?.({ ...request, limit: 100 }, ctx)) ?? { values: [], hasMore: false };
      }),
  },
  {
    defect: 'keeps to itself that there is more',
    law: 'completion stays within its limit',
    says: /`hasMore` is not true/,
    break: (inner) =>
      completing(inner, async (request, ctx) => {
        return { values: (await inner.complete?.(request, ctx))?.values ?? [], hasMore: false };
      }),
  },
  {
    defect: 'throws a TypeError for an unknown template',
    law: 'a completion of something that does not exist',
    says: /threw TypeError/,
    break: (inner) =>
      completing(inner, async (request, ctx) => {
        if (request.uriTemplate !== 'memory:///{+path}') throw new TypeError('no such template');
        return (await inner.complete?.(request, ctx)) ?? { values: [], hasMore: false };
      }),
  },
  {
    defect: 'says that it does not complete, and does',
    law: 'each completed value expands',
    says: /completes/,
    break: (inner) => featuring(inner, { completion: false }),
  },
];
