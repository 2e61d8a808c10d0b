/** Tests which extensions about resources are found in a server's capabilities. */
import { describe, expect, it } from 'vitest';
import { resourceExtensionsIn } from './results.ts';

const declared = (extensions?: object) => resourceExtensionsIn(extensions === undefined ? {} : { extensions });

describe('extensions about resources', () => {
  it('are missing if nothing is declared', () => {
    expect(declared()).toEqual({ metadata: false, ranges: false, directories: false, skills: false });
  });

  it.each([
    [{}, false],
    [{ directoryRead: false }, false],
    [{ directoryRead: 'true' }, false],
    [true, false],
    [{ directoryRead: true }, true],
  ])('with skills that declare %j have resources/directory/read: %s', (settings, directories) => {
    expect(declared({ 'io.modelcontextprotocol/skills': settings })).toEqual({
      metadata: false,
      ranges: false,
      directories,
      skills: typeof settings === 'object',
    });
  });

  it('may have directories without skills', () => {
    expect(declared({ 'vitrine/resource-directories': {} })).toMatchObject({ directories: true });
  });

  it('have windows only if the server is a Vitrine', () => {
    expect(declared({ 'sep-2093/resource-hierarchy': {} })).toMatchObject({ metadata: true, ranges: false });
    expect(declared({ 'vitrine/resource-metadata': {} })).toMatchObject({ metadata: true, ranges: true });
  });
});
