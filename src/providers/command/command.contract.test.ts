import { treeUri } from '../../core/uri.ts';
import { providerContract } from '../../testing/provider-contract.ts';
import { commandProvider } from './index.ts';

/** Bytes in octal, as `printf` takes them. */
const octal = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');

const TEXTS: Readonly<Record<string, string>> = {
  'load.txt': 'load average: 0.00\n',
  'empty.txt': '',
  'guide/intro.md': '# Intro\n',
  'odd/with space #1 %41?.txt': 'odd',
  'odd/caf\u00e9.txt': 'one form',
  'odd/cafe\u0301.txt': 'the other',
  'odd/%2e%2e': 'not dots',
  ...Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`many/${index}.txt`, `number ${index}`])),
};

const LARGE = 'a line of a long log, which is repeated\n';
const LARGE_COUNT = 10_000;

providerContract('command', async () => {
  const encoder = new TextEncoder();
  const leaves = new Map(Object.entries(TEXTS).map(([path, text]) => [path, encoder.encode(text)]));
  leaves.set('large.log', encoder.encode(LARGE.repeat(LARGE_COUNT)));
  const services = ['web', 'mail', 'a:b'];
  for (const service of services) leaves.set(`log/${service}.txt`, encoder.encode(`log of ${service}`));
  const provider = await commandProvider({
    name: 'contract',
    run: {
      ...Object.fromEntries(Object.entries(TEXTS).map(([path, text]) => [path, ['printf', octal(text)]])),
      'large.log': ['sh', '-c', `yes '${LARGE.trimEnd()}' | head -n ${LARGE_COUNT}`],
      'log/{service}.txt': { argv: ['printf', '%s', 'log of {service}'], variables: { service: services } },
    },
  });
  return {
    provider,
    leaves,
    uriOf: (path) => treeUri('command', path === '' ? [] : path.split('/')),
    hierarchical: true,
    close: async () => provider.close?.(),
  };
});
