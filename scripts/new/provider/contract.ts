import { treeUri } from '../../core/uri.ts';
import { providerContract } from '../../testing/provider-contract.ts';
import { exampleProvider } from './index.ts';

const TEXTS: Readonly<Record<string, string>> = {
  greeting: 'Hello',
  'odd name #1 %41?.txt': 'odd',
  'caf\u00e9.txt': 'one form',
  'cafe\u0301.txt': 'the other',
  ...Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`many-${index}.txt`, `number ${index}`])),
};

providerContract('example', () => {
  const encoder = new TextEncoder();
  return {
    provider: exampleProvider({ example: TEXTS }),
    leaves: new Map(Object.entries(TEXTS).map(([name, text]) => [name, encoder.encode(text)])),
    uriOf: (path) => treeUri('example', path === '' ? [] : path.split('/')),
    close: async () => {},
  };
});
