import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InputRequest } from '../../protocol/input-required.ts';
import { flatProvider } from '../../testing/flat-fixture.ts';
import { createContext } from '../context.ts';
import { mountTree, publishUri } from '../mounts.ts';
import type { ResourceProvider } from '../provider.ts';
import type { Mount } from './mount.ts';
import { nativeUri } from './published-uris.ts';
import { createResolver } from './resolver.ts';
import {
  nativeArguments,
  publishAsking,
  publishContent,
  publishErrorData,
  publishInputRequests,
  publishMeta,
} from './rewriting.ts';

const provider = flatProvider({ resources: new Map() });
const docs: Mount = { name: 'docs', provider };
const bare: Mount = { name: 'docs', provider, prefix: 'none' };

/** Expects that a value without anything to rewrite is returned itself, unchanged. */
const untouched = <T>(run: (value: T) => unknown, value: T): void => {
  const before = structuredClone(value);
  expect(run(value)).toBe(value);
  expect(value).toEqual(before);
};

const name = fc.stringMatching(/^[a-z][a-z0-9.-]{0,8}$/);
const scheme = fc.stringMatching(/^[a-z][a-z0-9+.-]{0,8}$/);
const rest = fc.oneof(
  fc.stringMatching(/^[\x21-\x7e]{0,30}$/),
  fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !/\s/.test(text)),
);
/** URIs of any scheme: opaque, hierarchical, templates, and such that look as if they were published already. */
const uri = fc.oneof(
  fc.tuple(scheme, rest).map(([head, tail]) => `${head}:${tail}`),
  fc.tuple(scheme, rest).map(([head, tail]) => `${head}://${tail}`),
  fc.tuple(name, scheme, rest).map(([mount, head, tail]) => `${mount}+${head}:${tail}`),
  rest.map((tail) => `ui://${tail}`),
  fc.tuple(name, rest).map(([mount, tail]) => `ui://${mount}+${tail}`),
  fc.constantFrom('urn:a:b', 'memo:x', 'memo:1+1', 'file:///{+path}', 'git+ssh://host/a+b', 'db://{table}{?limit}'),
);

describe('any URI of any mount [CB-1]', () => {
  it('comes back from its published form', () => {
    fc.assert(
      fc.property(name, uri, (mount, native) => {
        const of: Mount = { name: mount, provider };
        const published = publishUri(of, native);
        expect(createResolver([of]).resolve(published)).toEqual({ mount: of, native });
        expect(nativeUri(of, published)).toBe(native);
        expect(published).not.toBe(native);
        expect(publishUri({ ...of, prefix: 'none' }, native)).toBe(native);
      }),
    );
  });

  it('is found by its own mount, and by no other', async () => {
    const recording = (asked: string[]): ResourceProvider => ({
      ...provider,
      async metadata(native) {
        asked.push(native);
        return { uri: native, name: 'x' };
      },
    });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(name, { minLength: 1, maxLength: 4 }), uri, async (names, native) => {
        const asked = names.map((): string[] => []);
        const mounts = names.map((each, index): Mount => ({ name: each, provider: recording(asked[index] ?? []) }));
        const tree = mountTree(mounts);
        for (const [index, mount] of mounts.entries()) {
          const published = publishUri(mount, native);
          expect(await tree.metadata(published, createContext())).toEqual({ uri: published, name: 'x' });
          expect(asked[index]).toEqual([native]);
          expect(createResolver(mounts.toReversed()).resolve(published)).toEqual({ mount, native });
        }
      }),
    );
  });

  it('comes back out of arguments, wherever it stands in them', () => {
    fc.assert(
      fc.property(name, uri, (mount, native) => {
        const of: Mount = { name: mount, provider };
        const published = publishUri(of, native);
        const args = { uri: published, list: [1, published, { deep: published }], text: `see ${published}` };
        expect(nativeArguments(of, args)).toEqual({
          uri: native,
          list: [1, native, { deep: native }],
          text: `see ${published}`,
        });
      }),
    );
  });
});

describe('content of a mounted server', () => {
  it('names its resources and links as they are published, and keeps every other field', () => {
    const content = [
      { type: 'resource', resource: { uri: 'memo:x', text: 'memo:x', size: 6, extra: { uri: 'memo:y' } }, more: 1 },
      { type: 'resource', resource: { uri: 'urn:a:b', blob: 'AAAA', _meta: { k: 'memo:x' } }, annotations: { a: 1 } },
      { type: 'resource_link', uri: 'ui://page', name: 'x', icons: [{ src: 'data:,x' }], annotations: { priority: 1 } },
    ];
    expect(publishContent(docs, content)).toEqual([
      { type: 'resource', resource: { ...content[0]?.resource, uri: 'docs+memo:x' }, more: 1 },
      { type: 'resource', resource: { ...content[1]?.resource, uri: 'docs+urn:a:b' }, annotations: { a: 1 } },
      { ...content[2], uri: 'ui://docs+page' },
    ]);
  });

  it.each<[string, unknown]>([
    ['text', { type: 'text', text: 'docs+memo:x and memo:x', annotations: { audience: ['user'] } }],
    ['an image', { type: 'image', data: 'AAAA', mimeType: 'image/png' }],
    ['audio', { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }],
    ['a block of a kind that is not known', { type: 'hologram', uri: 'memo:x', resource: { uri: 'memo:y' } }],
    ['the use of a tool', { type: 'tool_use', id: '1', name: 'read', input: { uri: 'memo:x' } }],
    [
      'a result of a tool without links',
      { type: 'tool_result', toolUseId: '1', content: [{ type: 'text', text: 'x' }] },
    ],
    ['a resource without contents', { type: 'resource' }],
    ['a string', 'memo:x'],
    ['null', null],
  ])('that is %s is left alone', (_what, block) => {
    untouched((content) => publishContent(docs, content), [block]);
    untouched((content) => publishContent(docs, content), [{ role: 'user', content: block }]);
  });

  it('is followed into messages and results of tools within them, but not into structured content', () => {
    const link = { type: 'resource_link', uri: 'memo:x', name: 'x' };
    const structuredContent = { uri: 'memo:x', content: [link] };
    const messages = [
      { role: 'assistant', content: { type: 'tool_use', id: '1', name: 'n', input: { uri: 'memo:x' } } },
      { role: 'user', content: [{ type: 'tool_result', toolUseId: '1', content: [link], structuredContent }] },
      { role: 'user', content: link },
    ];
    const published = { ...link, uri: 'docs+memo:x' };
    expect(publishContent(docs, messages)).toEqual([
      messages[0],
      { role: 'user', content: [{ type: 'tool_result', toolUseId: '1', content: [published], structuredContent }] },
      { role: 'user', content: published },
    ]);
    expect(publishContent(docs, messages)[0], 'nothing is copied without need').toBe(messages[0]);
  });

  it('that is nested without end is followed up to a limit', () => {
    const loop: { type: string; content?: unknown } = { type: 'tool_result' };
    loop.content = [loop];
    expect(publishContent(docs, loop)).toBe(loop);
  });

  it('without a prefix is as it came', () => {
    untouched((content) => publishContent(bare, content), [{ type: 'resource_link', uri: 'memo:x', name: 'x' }]);
  });
});

describe('the view of a tool', () => {
  it('is published in _meta.ui.resourceUri and under the older key', () => {
    const meta = { ui: { resourceUri: 'ui://app', csp: ['x'] }, 'ui/resourceUri': 'ui://app', other: 'ui://app' };
    expect(publishMeta(docs, { name: 'n', _meta: meta })).toEqual({
      name: 'n',
      _meta: {
        ui: { resourceUri: 'ui://docs+app', csp: ['x'] },
        'ui/resourceUri': 'ui://docs+app',
        other: 'ui://app',
      },
    });
    expect(publishMeta(docs, { _meta: { 'ui/resourceUri': 'ui://app' } })).toEqual({
      _meta: { 'ui/resourceUri': 'ui://docs+app' },
    });
    expect(publishMeta(docs, { _meta: { ui: { resourceUri: 'ui://app' } } })).toEqual({
      _meta: { ui: { resourceUri: 'ui://docs+app' } },
    });
  });

  it.each<[string, { readonly _meta?: unknown }]>([
    ['no _meta', {}],
    ['no view', { _meta: { other: 1 } }],
    ['one that is no text', { _meta: { ui: { resourceUri: 7 }, 'ui/resourceUri': null } }],
    ['one of another shape', { _meta: { ui: 'ui://app' } }],
  ])('is left alone where there is %s', (_what, described) => {
    untouched((each) => publishMeta(docs, each), described);
  });

  it('without a prefix is as it came', () => {
    untouched((each) => publishMeta(bare, each), { _meta: { ui: { resourceUri: 'ui://app' } } });
  });
});

describe('the data of an error', () => {
  it('names its resource as it is published', () => {
    expect(publishErrorData(docs, { uri: 'memo:x', also: 'memo:x' })).toEqual({ uri: 'docs+memo:x', also: 'memo:x' });
    untouched((data) => publishErrorData(docs, data), { uri: 7, also: 'memo:x' });
    untouched((data) => publishErrorData(bare, data), { uri: 'memo:x' });
  });
});

const link = { type: 'resource_link', uri: 'memo:x', name: 'x' };
const asking: Readonly<Record<string, InputRequest>> = {
  think: {
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content: link }], maxTokens: 7, systemPrompt: 'memo:x', extra: 'memo:x' },
  },
  ask: { method: 'elicitation/create', params: { message: 'memo:x', requestedSchema: { uri: 'memo:x' } } },
  roots: { method: 'roots/list' },
};
const askedPublished = {
  ...asking,
  think: {
    ...asking.think,
    params: { ...asking.think?.params, messages: [{ role: 'user', content: { ...link, uri: 'docs+memo:x' } }] },
  },
};

describe('questions to the client', () => {
  it('reach the client with everything that belongs to them', async () => {
    const given: unknown[][] = [];
    const ask = async (...all: unknown[]): Promise<unknown> => given.push(all);
    const client = { elicitation: true, sampling: true, roots: true, ask };
    const published = publishAsking(docs, createContext({ client })).client;
    const { signal } = new AbortController();
    const request: InputRequest = { method: 'roots/list' };
    for (const reports of [true, false, undefined]) await published?.ask?.(request, signal, reports);
    expect(given).toEqual([true, false, undefined].map((reports) => [request, signal, reports]));
  });

  it('name resources in the messages of sampling as they are published, and keep the rest', () => {
    const asked = { resultType: 'input_required' as const, inputRequests: asking, requestState: 'memo:x', extra: 1 };
    expect(publishInputRequests(docs, asked)).toEqual({ ...asked, inputRequests: askedPublished });
    untouched((each) => publishInputRequests(bare, each), asked);
    untouched((each) => publishInputRequests(docs, each), { resultType: 'input_required' as const });
  });

  it('do so too while the request is running, and their answers come back', async () => {
    const sent: unknown[] = [];
    const features = { elicitation: true, sampling: true, roots: true, declared: { sampling: {} } };
    const ask = async (request: InputRequest, signal: AbortSignal): Promise<unknown> => {
      sent.push(request, signal);
      return 'an answer';
    };
    const ctx = createContext({ client: { ...features, ask } });
    const published = publishAsking(docs, ctx);
    expect(published).toMatchObject({ principal: ctx.principal, client: features });
    for (const [key, request] of Object.entries(asking)) {
      expect(await published.client?.ask?.(request, ctx.signal)).toBe('an answer');
      expect(sent.splice(0)).toEqual([askedPublished[key as keyof typeof askedPublished], ctx.signal]);
    }
    expect(publishAsking(bare, ctx)).toBe(ctx);
    for (const other of [createContext(), createContext({ client: features })]) {
      expect(publishAsking(docs, other)).toBe(other);
    }
  });
});

describe('arguments', () => {
  it.each([
    'memo:x',
    'docs',
    'docs+',
    'docs+x',
    'other+memo:x',
    'ui://other+page',
    'ui://page',
    'see docs+memo:x',
    'docs+memo: it says so',
    'docs+memo:x\ndocs+memo:y',
    `docs+memo:${'x'.repeat(70_000)}`,
    '',
  ])('that are no URI of the mount are left alone: %.40j', (value) => {
    untouched((args) => nativeArguments(docs, args), { value, list: [value, 7, null, true] });
  });

  it('are turned back in any letter case of the mount and its scheme', () => {
    expect(nativeArguments(docs, { a: 'DOCS+memo:X', b: 'UI://Docs+Page' })).toEqual({ a: 'memo:X', b: 'ui://Page' });
  });

  it('keep their order, their keys, and all other values', () => {
    const other = { deep: [1] };
    const args: Record<string, unknown> = JSON.parse(
      '{"z":"docs+memo:x","__proto__":{"uri":"docs+memo:x"},"docs+memo:x":1,"a":null}',
    );
    args.other = other;
    const native = nativeArguments(docs, args);
    expect(JSON.stringify(native)).toBe(
      '{"z":"memo:x","__proto__":{"uri":"memo:x"},"docs+memo:x":1,"a":null,"other":{"deep":[1]}}',
    );
    expect(native.other).toBe(other);
    untouched((each) => nativeArguments(bare, each), { uri: 'docs+memo:x' });
  });
});
