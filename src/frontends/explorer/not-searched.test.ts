import { expect, it } from 'vitest';
import { notSearched } from './not-searched.ts';
import { searchPage } from './search.ts';

const MISSING = [{ mount: 'away', reason: 'It is <out> of reach' }, { reason: 'Some resources cannot be read now' }];

it.each([undefined, {}, { missing: [] }, { missing: 'x' }, { missing: [1] }])(
  'nothing is said about the content %j',
  (content) => {
    expect(notSearched(content)).toBeUndefined();
  },
);

it('each part that was not searched is named', () => {
  expect(notSearched({ missing: MISSING })).toBe(
    'Not everything was searched: away (It is <out> of reach); Some resources cannot be read now',
  );
});

it('the parts that were not searched are named on the page of the results, as text', () => {
  const shell = { server: 'Docs', roots: [], missing: [] };
  const texts = { content: [], structuredContent: { matches: [], missing: MISSING } };
  const shown = searchPage(shell, { words: 'clock', cursor: undefined }, { texts });
  expect(shown).toContain('Not everything was searched: away (It is &lt;out&gt; of reach); Some resources');
  expect(searchPage(shell, { words: 'clock', cursor: undefined }, { texts: { content: [] } })).not.toContain(
    'Not everything',
  );
});
