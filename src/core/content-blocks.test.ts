import { describe, expect, it } from 'vitest';
import { audioBlock, imageBlock, linkBlock, resourceBlock, sendableResult, textBlock } from './content-blocks.ts';

const BYTES = Uint8Array.of(0, 1, 254, 255);

describe('the blocks of results', () => {
  it('take bytes, a part of a larger buffer too, or base64', () => {
    const part = Uint8Array.of(9, ...BYTES, 9).subarray(1, 5);
    for (const data of [BYTES, part, 'AAH+/w==']) {
      expect(imageBlock(data, 'image/png')).toEqual({ type: 'image', data: 'AAH+/w==', mimeType: 'image/png' });
      expect(audioBlock(data, 'audio/wav')).toEqual({ type: 'audio', data: 'AAH+/w==', mimeType: 'audio/wav' });
      expect(resourceBlock({ uri: 'a:b', name: 'b', blob: data }).resource).toEqual({
        uri: 'a:b',
        name: 'b',
        blob: 'AAH+/w==',
      });
    }
  });

  it('carry annotations and _meta; annotations of the block of a resource go to the resource', () => {
    const extras = { annotations: { priority: 0.5 }, _meta: { key: 1 } };
    expect(textBlock('t', extras)).toEqual({ type: 'text', text: 't', ...extras });
    expect(imageBlock(BYTES, 'image/png', extras)).toMatchObject(extras);
    expect(resourceBlock({ uri: 'a:b', text: 't' }, extras)).toEqual({
      type: 'resource',
      resource: { uri: 'a:b', name: 'b', text: 't', annotations: { priority: 0.5 } },
      _meta: { key: 1 },
    });
  });

  it('name a resource after its URI if it has no name', () => {
    const nameOf = (uri: string): unknown => resourceBlock({ uri, text: '' }).resource.name;
    expect(nameOf('file:///a%20b/c%20d.md')).toBe('c d.md');
    expect(nameOf('memo:x')).toBe('x');
    expect(nameOf('notes:///')).toBe('notes:///');
    expect(resourceBlock({ uri: 'memo:x', name: 'own', text: '' }).resource.name).toBe('own');
  });

  it('of links are the resource with the type of a link', () => {
    expect(linkBlock({ uri: 'a:b', name: 'b', size: 1 })).toEqual({
      type: 'resource_link',
      uri: 'a:b',
      name: 'b',
      size: 1,
    });
  });

  it('are sent as they are when there is nothing to move', () => {
    const result = {
      content: [textBlock('t', { annotations: { priority: 1 } }), resourceBlock({ uri: 'a:b', text: '' })],
    };
    expect(sendableResult(result)).toBe(result);
  });
});
