/**
 * The resources that the suite looks for: fixed URIs with a scheme of their own, one of which is for subscriptions, and a
 * template.
 */
import { defineProvider, type ResourceProvider } from 'vitrine';
import { RED_PIXEL_PNG } from './samples.ts';

const FIXED = {
  'test://static-text': {
    metadata: { name: 'static text', mimeType: 'text/plain', description: 'A text that does not change' },
    content: 'This is the content of the static text resource.',
  },
  'test://static-binary': {
    metadata: { name: 'static binary', mimeType: 'image/png', description: 'An image of one red pixel' },
    content: RED_PIXEL_PNG,
  },
  'test://watched-resource': {
    metadata: { name: 'watched', mimeType: 'text/plain', description: 'A text that may be subscribed to' },
    content: 'This is watched.',
  },
} as const;

const fixed = (uri: string) => Object.entries(FIXED).find(([each]) => each === uri)?.[1];

export const resources: ResourceProvider = defineProvider({
  name: 'conformance',
  scheme: 'test',
  list: () => Object.entries(FIXED).map(([uri, { metadata }]) => ({ uri, ...metadata })),
  read: (uri) => fixed(uri)?.content,
  // Nothing here changes while the suite runs: the suite tests only that a client can subscribe.
  watch: () => () => {},
  templates: [
    {
      uriTemplate: 'test://template/{id}/data',
      name: 'data by id',
      description: 'Data that is made for any id',
      mimeType: 'application/json',
      read: ({ id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    },
  ],
});
