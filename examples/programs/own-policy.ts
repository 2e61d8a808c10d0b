/** A function that decides who may do what: everybody may read public resources, and curators everything. */
import assert from 'node:assert/strict';
import { type AccessPolicy, createVitrine } from 'vitrine';
import { memoryProvider } from 'vitrine/providers/memory';

const policy: AccessPolicy = {
  name: 'curators',
  // It decides by the URI alone, so Vitrine need not describe resources before it decides.
  attributes: false,
  decide({ principal, uri }) {
    if (principal.groups?.includes('curators')) return { effect: 'allow', rule: 'curators' };
    if (uri === undefined || uri === 'house+memory:///') return { effect: 'allow', rule: 'the way in' };
    if (uri.startsWith('house+memory:///public/')) return { effect: 'allow', rule: 'public' };
    return { effect: 'hide', rule: 'everything else' };
  },
};

const house = memoryProvider({
  resources: { 'public/hours.md': { text: '10 to 17' }, 'safe/code.md': { text: 'four digits' } },
});
const vitrine = createVitrine({ mounts: { house }, access: policy });
const curator = { id: 'ada', groups: ['curators'] };

const [hours] = await vitrine.read('house+memory:///public/hours.md');
assert.ok(hours !== undefined && 'text' in hours && hours.text === '10 to 17');
await assert.rejects(vitrine.read('house+memory:///safe/code.md'), { code: 'not-found' });
const [code] = await vitrine.read('house+memory:///safe/code.md', { principal: curator });
assert.ok(code !== undefined && 'text' in code && code.text === 'four digits');
await vitrine.close();
