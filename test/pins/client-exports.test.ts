/** The names that the client library exports: an accidental change fails here. */
import { expect, it } from 'vitest';
import * as client from '../../src/client/index.ts';
import * as node from '../../src/client/node/index.ts';

it('vitrine/client exports these values and no others', () => {
  expect(Object.keys(client).sort()).toEqual([
    'INFERRED_META_KEY',
    'ResourceClientError',
    'base64Size',
    'createResourceClient',
    'getSkill',
    'listSkills',
    'memoryStore',
    'readEmbedded',
    'readSkill',
    'readSkillFile',
    'searchResources',
    'verifySkill',
    'writeEmbedded',
  ]);
});

it('vitrine/client/node exports these values and no others', () => {
  expect(Object.keys(node).sort()).toEqual([
    'connectResourceClient',
    'diskStore',
    'getResources',
    'parseCommandLine',
    'stdioConnect',
    'writeSkill',
  ]);
});
