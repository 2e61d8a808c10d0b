import { describe, expect, it } from 'vitest';
import { mimeTypeOfName } from './mime-type.ts';

describe('the type that a name claims [RES-6]', () => {
  it.each([
    ['readme.md', 'text/markdown'],
    ['README.MD', 'text/markdown'],
    ['data.json', 'application/json'],
    ['data.csv', 'text/csv'],
    ['data.tsv', 'text/tab-separated-values'],
    ['page.html', 'text/html'],
    ['notes.txt', 'text/plain'],
    ['picture.PNG', 'image/png'],
    ['drawing.svg', 'image/svg+xml'],
    ['leaflet.pdf', 'application/pdf'],
    ['archive.tar.gz', 'application/gzip'],
    ['config.yaml', 'application/yaml'],
    ['config.yml', 'application/yaml'],
    ['config.toml', 'application/toml'],
    ['events.jsonl', 'application/jsonl'],
    ['turnstile.log', 'text/plain'],
    ['index.ts', 'text/typescript'],
    ['index.tsx', 'text/typescript'],
    ['index.mts', 'text/typescript'],
    ['index.cjs', 'text/javascript'],
    ['main.py', 'text/x-python'],
    ['main.rs', 'text/x-rust'],
    ['main.go', 'text/x-go'],
    ['main.c', 'text/x-c'],
    ['package-lock.lock', 'text/plain'],
    ['Makefile', 'text/x-makefile'],
    ['Dockerfile', 'text/x-dockerfile'],
    ['LICENSE', 'text/plain'],
    ['README', 'text/plain'],
  ])('of %s is %s', (name, type) => expect(mimeTypeOfName(name)).toBe(type));

  it.each([
    'unknown',
    'name.nobody-knows-this',
    'ends in a dot.',
    '.gitignore',
    '.md',
    '',
    '.',
    'md',
    'constructor',
    '__proto__',
    'toString',
    'a.constructor',
    'a.__proto__',
    'a.hasownproperty',
  ])('of %j is none', (name) => expect(mimeTypeOfName(name)).toBeUndefined());

  it('has no parameters', () => {
    for (const name of ['a.html', 'a.txt', 'a.js', 'a.css', 'a.xml'])
      expect(mimeTypeOfName(name)).toMatch(/^[\w.+-]+\/[\w.+-]+$/);
  });
});
