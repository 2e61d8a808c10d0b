/** Checks that results of revision 2026-07-28 say whether they are complete, and how long and by whom they may be cached. */
import type { Data } from '../../../../protocol/data.ts';
import { type Check, type CheckContext, notApplicable, problems } from '../check.ts';
import { LIST_NAMES, LISTS } from '../examined.ts';

const group = 'Freshness';

/** A result with the name of its request. */
interface NamedResult {
  readonly of: string;
  readonly result: Data;
}

async function resultsOf({ hello, examined }: CheckContext): Promise<readonly NamedResult[]> {
  const all: NamedResult[] = [{ of: 'server/discover', result: hello }];
  for (const name of LIST_NAMES) {
    const { pages } = await examined.list(name);
    all.push(...pages.map((result) => ({ of: LISTS[name].method, result })));
  }
  for (const { uri, answer } of await examined.reads()) {
    if (answer.kind === 'result') all.push({ of: `resources/read of ${uri}`, result: answer.result });
  }
  return all;
}

export const FRESHNESS_CHECKS: readonly Check[] = [
  {
    id: 'result-type',
    group,
    title: 'Every result has a resultType',
    clause: 'basic, Responses (2026-07-28: resultType)',
    level: 'error',
    era: 'modern',
    async run(ctx) {
      const seen = (await resultsOf(ctx))
        .filter(({ result }) => result.resultType !== 'complete')
        .map(({ of, result }) => `${of}: resultType is ${JSON.stringify(result.resultType) ?? 'not there'}`);
      return problems(seen, 'Send resultType: "complete" with each result that is whole.');
    },
  },
  {
    id: 'cache-hints',
    group,
    title: 'Lists and contents say how long they may be cached, and by whom',
    clause: 'server/utilities/caching (2026-07-28: ttlMs, cacheScope)',
    level: 'error',
    era: 'modern',
    async run(ctx) {
      const results = await resultsOf(ctx);
      if (results.length === 0) return notApplicable('There are no results');
      const seen = results.flatMap(({ of, result: { ttlMs, cacheScope } }) => [
        ...(typeof ttlMs === 'number' && Number.isInteger(ttlMs) && ttlMs >= 0
          ? []
          : [`${of}: ttlMs is ${JSON.stringify(ttlMs) ?? 'not there'}`]),
        ...(cacheScope === 'public' || cacheScope === 'private'
          ? []
          : [`${of}: cacheScope is ${JSON.stringify(cacheScope) ?? 'not there'}`]),
      ]);
      return problems(seen, 'Send ttlMs (milliseconds, 0 for none) and cacheScope ("private", or "public" for all).');
    },
  },
];
