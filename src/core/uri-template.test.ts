import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseUriTemplate, type TemplateValue, type TemplateVariables, UriTemplateError } from './uri-template.ts';

const FIXTURES = new URL('../../test/fixtures/uritemplate-test/', import.meta.url);

interface Group {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly testcases: readonly (readonly [template: string, expected: string | readonly string[] | false])[];
}

/** The official test data has numbers and null, which are no template values. */
function toVariables(raw: Group['variables']): TemplateVariables {
  const defined = Object.entries(raw).filter(([, value]) => value !== null);
  return Object.fromEntries(
    defined.map(([name, value]) => [name, typeof value === 'number' ? String(value) : (value as TemplateValue)]),
  );
}

function casesOf(file: string) {
  const groups: Record<string, Group> = JSON.parse(readFileSync(new URL(file, FIXTURES), 'utf8'));
  return Object.entries(groups).flatMap(([group, { variables, testcases }]) =>
    testcases.map(([template, expected]) => ({ group, template, expected, variables: toVariables(variables) })),
  );
}

const FILES = readdirSync(FIXTURES)
  .filter((name) => name.endsWith('.json'))
  .map((file) => ({ file, cases: casesOf(file) }));

describe('the official test data', () => {
  it('is all there', () => {
    expect(FILES.map(({ file }) => file).toSorted()).toEqual([
      'extended-tests.json',
      'negative-tests.json',
      'spec-examples-by-section.json',
      'spec-examples.json',
    ]);
  });

  describe.each(FILES)('$file', ({ cases }) => {
    it('has cases', () => {
      expect(cases.length).toBeGreaterThan(0);
    });

    it.each(cases)('$group: $template', ({ template, expected, variables }) => {
      const expand = () => parseUriTemplate(template).expand(variables);
      if (expected === false) expect(expand).toThrow(UriTemplateError);
      else expect([expected].flat()).toContain(expand());
    });

    it.each(cases.filter(({ expected }) => expected !== false))(
      '$group: $template matches what it expands to',
      (one) => {
        const template = parseUriTemplate(one.template);
        const uri = template.expand(one.variables);
        const variables = template.match(uri);
        expect(variables).toBeDefined();
        expect(template.expand(variables ?? {})).toBe(uri);
      },
    );
  });
});

describe('parseUriTemplate', () => {
  it.each([
    ['a}', 1],
    ['a{', 2],
    ['{}', 1],
    ['{a', 0],
    ['x{a,', 4],
    ['{a,}', 3],
    ['{,a}', 1],
    ['{?}', 2],
    ['{a{b}}', 2],
    ['{a}{=b}', 4],
    ['{@b}', 1],
    ['{a:0}', 2],
    ['{a:10000}', 7],
    ['{a:3*}', 4],
    ['{a*:3}', 3],
    ['{a..b}', 2],
    ['{a.}', 2],
    ['{%4}', 1],
    ['a b', 1],
    ['a%2', 1],
    ['a"', 1],
    ['<a>', 0],
    ['\ud800', 0],
    ['é\ufffe', 1],
  ])('says where %j is wrong', (text, position) => {
    let caught: unknown;
    try {
      parseUriTemplate(text);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(UriTemplateError);
    expect(caught).toMatchObject({ name: 'UriTemplateError', position });
  });

  it('bounds length, expressions and variables', () => {
    expect(() => parseUriTemplate('a'.repeat(8192))).not.toThrow();
    expect(() => parseUriTemplate('a'.repeat(8193))).toThrow(UriTemplateError);
    expect(() => parseUriTemplate('{a}'.repeat(64))).not.toThrow();
    expect(() => parseUriTemplate('{a}'.repeat(65))).toThrow(UriTemplateError);
    expect(() => parseUriTemplate(`{${Array(128).fill('a').join()}}`)).not.toThrow();
    expect(() => parseUriTemplate(`{${Array(129).fill('a').join()}}`)).toThrow(UriTemplateError);
  });

  it('names its variables once, in order', () => {
    const template = parseUriTemplate('/{b}{/a:3,b}{?c.d*,%41}');
    expect(template.text).toBe('/{b}{/a:3,b}{?c.d*,%41}');
    expect(template.variables).toEqual(['b', 'a', 'c.d', '%41']);
  });
});

describe('expand', () => {
  it('encodes every literal that needs it', () => {
    expect(parseUriTemplate("/é%2f'😀{a}").expand({})).toBe("/%C3%A9%2f'%F0%9F%98%80");
  });

  it('reads own properties only', () => {
    const template = parseUriTemplate('{constructor}{__proto__}{toString}');
    expect(template.expand({})).toBe('');
    expect(template.expand(Object.create({ constructor: 'x' }))).toBe('');
    expect(template.expand({ ['__proto__']: 'p', constructor: 'c' })).toBe('cp');
  });

  it('counts prefix characters, not octets, and splits no triplet that stays', () => {
    expect(parseUriTemplate('{a:2}').expand({ a: '😀é!' })).toBe('%F0%9F%98%80%C3%A9');
    expect(parseUriTemplate('{a:2}').expand({ a: '%2Fx' })).toBe('%252');
    expect(parseUriTemplate('{+a:2}').expand({ a: '%2Fxy' })).toBe('%2Fx');
    expect(parseUriTemplate('{+a:2}').expand({ a: '%C3%A9xy' })).toBe('%C3%A9x');
  });

  it('lets no key of an associative array write parameters of its own', () => {
    expect(parseUriTemplate('{?a*}').expand({ a: { 'x=1&y': '2' } })).toBe('?x%3D1%26y=2');
  });

  it.each<[string, TemplateVariables]>([
    ['/{a:3}', { a: ['x'] }],
    ['/{a:3}', { a: { x: 'y' } }],
    ['/{a}', { a: '\ud83d' }],
    ['/{a*}', { a: { '\udc00': '' } }],
  ])('refuses %s of %j', (template, variables) => {
    expect(() => parseUriTemplate(template).expand(variables)).toThrow(
      expect.objectContaining({ name: 'UriTemplateError', position: 2 }),
    );
  });

  it('ignores a prefix of an undefined value', () => {
    expect(parseUriTemplate('x{a:3}{b:3}{/c:3}').expand({ a: [], b: {}, c: undefined })).toBe('x');
  });
});
