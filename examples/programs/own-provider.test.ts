/** Tests a provider of your own against the contract that all providers pass, with vitest. */
import { defineProvider } from 'vitrine';
import { providerContract } from 'vitrine/testing';

providerContract('poems', () => {
  const poems = new Map([
    ['poem:rain', 'Rain again'],
    ['poem:snow', 'No snow yet'],
  ]);
  const provider = defineProvider({
    scheme: 'poem',
    list: (uri) => (uri === undefined ? [...poems.keys()].map((each) => ({ uri: each })) : undefined),
    read: (uri) => poems.get(uri),
  });
  return {
    provider,
    // The leaves by their paths; here a path is the end of the URI.
    leaves: new Map([...poems].map(([uri, text]) => [uri.slice('poem:'.length), Buffer.from(text)])),
    roots: [...poems.keys()].map((uri) => uri.slice('poem:'.length)),
    uriOf: (path) => `poem:${path}`,
    close: async () => provider.close?.(),
  };
});
