/** Servers with one mistake each, because a law that no server breaks would prove nothing. */
import type { Data, Request, Taught } from './in-process.ts';

export interface Broken {
  /** Its mistake. */
  readonly defect: string;
  /** The beginning of the name of the law that it breaks. */
  readonly law: string;
  /** A part of the error with which the law fails. */
  readonly says: RegExp;
  readonly break: (inner: Taught) => Taught;
}

/** The same server with other answers to one method. */
const answering =
  (method: string, answer: (params: Data, ask: Request) => Promise<Data>) =>
  ({ capabilities, request }: Taught): Taught => ({
    capabilities,
    request: (asked, params) => (asked === method ? answer(params, request) : request(asked, params)),
  });

/** The same server with changed entries in the results of lists and metadata. */
const saying =
  (change: (resource: Data) => Data) =>
  ({ capabilities, request }: Taught): Taught => ({
    capabilities,
    async request(method, params) {
      const { resource, resources, ...result } = (await request(method, params)) as Data & { resources?: Data[] };
      return {
        ...result,
        ...(resource !== undefined && { resource: change(resource as Data) }),
        ...(resources !== undefined && { resources: resources.map(change) }),
      };
    },
  });

const reading = (change: (contents: Data[], uri: string) => readonly Data[]) =>
  answering('resources/read', async (params, ask) => {
    const { contents } = (await ask('resources/read', params)) as { contents: Data[] };
    return { contents: change(contents, String(params.uri)) };
  });

const refusal = (code: number, data?: Data): Error => Object.assign(new Error('Refused'), { code, data });

export const BROKEN: readonly Broken[] = [
  {
    defect: 'declares no resources',
    law: 'the server declares',
    says: /not declared/,
    break: (inner) => ({ ...inner, capabilities: {} }),
  },
  {
    defect: 'lists the same whatever the URI',
    law: 'a list with a URI',
    says: /children differ/,
    break: answering('resources/list', (_params, ask) => ask('resources/list', {})),
  },
  {
    defect: 'begins anew after the last page',
    law: 'a list with a URI',
    says: /did not end/,
    break: answering('resources/list', async ({ uri }, ask) => ({
      ...(await ask('resources/list', { uri })),
      nextCursor: 'again',
    })),
  },
  {
    defect: 'fails over a cursor',
    law: 'a cursor that the server never gave',
    says: /code for a wrong cursor/,
    break: answering('resources/list', (params, ask) => {
      if (params.cursor === 'no server gives this one') throw refusal(-32_603);
      return ask('resources/list', params);
    }),
  },
  {
    defect: 'describes what is missing',
    law: 'what is missing',
    says: /was answered/,
    break: answering('resources/metadata', async ({ uri }) => ({ resource: { uri, name: 'none' } })),
  },
  {
    defect: 'fails where something is missing',
    law: 'what is missing',
    says: /refused with -32603/,
    break: answering('resources/read', async () => {
      throw refusal(-32_603);
    }),
  },
  {
    defect: 'refuses to list a leaf with the error for a missing resource',
    law: 'a resource without children is refused',
    says: /are the same/,
    break: answering('resources/list', async ({ uri }) => {
      throw refusal(-32_602, { uri });
    }),
  },
  {
    defect: 'leaves capabilities out',
    law: 'every resource has a name',
    says: /capabilities.list of/,
    break: saying(({ capabilities: _, ...resource }) => resource),
  },
  {
    defect: 'says of containers that they have no children',
    law: '`list` is true exactly',
    says: /capabilities.list of/,
    break: saying((resource) => ({ ...resource, capabilities: { list: false, subscribe: false } })),
  },
  {
    defect: 'promises subscriptions that it does not have',
    law: '`subscribe` is true only',
    says: /capabilities.subscribe of/,
    break: saying((resource) => ({ ...resource, capabilities: { list: false, subscribe: true } })),
  },
  {
    defect: 'describes with another title than it lists',
    law: 'metadata says of a resource',
    says: /title of .* differs/,
    break: answering('resources/metadata', async (params, ask) => ({
      resource: { ...((await ask('resources/metadata', params)).resource as Data), title: 'Other' },
    })),
  },
  {
    defect: 'sends content with metadata',
    law: 'metadata says of a resource',
    says: /has content/,
    break: saying((resource) => ({ ...resource, text: 'content' })),
  },
  {
    defect: 'refuses parameters that it does not know',
    law: 'parameters that it does not know',
    says: /refuses parameters/,
    break: answering('resources/read', (params, ask) => {
      if (Object.keys(params).length > 1) throw refusal(-32_602);
      return ask('resources/read', params);
    }),
  },
  {
    defect: 'gives no contents',
    law: 'a resource without children reads',
    says: /no contents/,
    break: reading(() => []),
  },
  {
    defect: 'gives other resources with a leaf',
    law: 'a resource without children reads',
    says: /another URI/,
    break: reading((contents) => [...contents, { uri: 'shelf:///drawer/1', text: '' }]),
  },
  {
    defect: 'gives text and blob at once',
    law: 'a resource without children reads',
    says: /text and blob/,
    break: reading((contents) => contents.map((item) => ({ ...item, blob: '' }))),
  },
  {
    defect: 'sends a format twice',
    law: 'formats of one content',
    says: /same type/,
    break: reading((contents) => [...contents, ...contents]),
  },
  {
    defect: 'describes formats differently',
    law: 'formats of one content',
    says: /title of formats/,
    break: reading((contents) => contents.map((item, index) => ({ ...item, title: `Format ${index}` }))),
  },
  {
    defect: 'sends contents without what is known of them',
    law: 'contents have the same fields as metadata',
    says: /name of contents/,
    break: reading((contents) => contents.map(({ uri, mimeType, text }) => ({ uri, mimeType, text }))),
  },
  {
    defect: 'lists a type that no read gives',
    law: 'the described type',
    says: /A read of text\/markdown gives/,
    break: reading((contents) => contents.map((item) => ({ ...item, mimeType: 'text/html' }))),
  },
  {
    defect: 'gives all formats the size of the first',
    law: 'the size of an item',
    says: /is 8 and not 15/,
    break: reading((contents) => contents.map((item) => ({ ...item, size: 8 }))),
  },
  {
    defect: 'gives a resource with a container that is not its child',
    law: 'the read of a container',
    says: /gives shelf:\/\/\/report/,
    break: reading((contents) => [...contents, { uri: 'shelf:///report', name: 'report', text: '' }]),
  },
];
