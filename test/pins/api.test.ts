/** The types of the package's exports, entry by entry: an accidental change of a signature or member fails here. */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** The entries that programs build on, and their files. */
const ENTRIES: Readonly<Record<string, string>> = {
  vitrine: 'index.ts',
  client: 'client/index.ts',
  'client-node': 'client/node/index.ts',
  'client-safety': 'client/safety/index.ts',
  'client-guards': 'client/guards/index.ts',
  config: 'configured/index.ts',
  'sep-2093': 'sep-2093/index.ts',
  'sep-2093-testing': 'sep-2093/testing/index.ts',
  testing: 'testing/index.ts',
  'uri-template': 'core/uri-template.ts',
  'providers-files': 'providers/files/index.ts',
  'providers-memory': 'providers/memory/index.ts',
  'providers-upstream': 'providers/upstream/index.ts',
};

const program = ts.createProgram(
  Object.values(ENTRIES).map((file) => SRC + file),
  {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    types: ['node'],
    skipLibCheck: true,
  },
);
const checker = program.getTypeChecker();
const FLAGS = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.WriteArrayAsGenericType;

/** The most characters of a type that are written. */
const MAX_WRITTEN = 400;

/** Types of schemas take many pages: their beginning is written, with a hash of the whole. */
function textOf(type: ts.Type): string {
  const text = checker.typeToString(type, undefined, FLAGS);
  if (text.length <= MAX_WRITTEN) return text;
  const digest = createHash('sha256').update(text).digest('base64url').slice(0, 16);
  return `${text.slice(0, MAX_WRITTEN)}… (${text.length} characters, ${digest})`;
}

function membersOf(type: ts.Type): string[] {
  const members = checker.getPropertiesOfType(type).map((member) => {
    const optional = (member.flags & ts.SymbolFlags.Optional) !== 0 ? '?' : '';
    // Symbols that are keys have a number, which depends on the files that were compiled before.
    const name = member.name.replace(/^__@(\w+)@\d+$/, '[$1]');
    return `  ${name}${optional}: ${textOf(checker.getTypeOfSymbol(member))}`;
  });
  return members.sort();
}

function linesOf(exported: ts.Symbol): string[] {
  const symbol = (exported.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(exported) : exported;
  const { name } = exported;
  const lines: string[] = [];
  if ((symbol.flags & ts.SymbolFlags.Value) !== 0) lines.push(`${name}: ${textOf(checker.getTypeOfSymbol(symbol))}`);
  if ((symbol.flags & ts.SymbolFlags.Type) === 0) return lines;
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  const isAlias = (symbol.flags & ts.SymbolFlags.TypeAlias) !== 0;
  const text = isAlias ? checker.typeToString(type, undefined, FLAGS | ts.TypeFormatFlags.InTypeAlias) : '';
  if (isAlias && !text.startsWith('{')) return [...lines, `type ${name} = ${text}`];
  return [...lines, `type ${name}`, ...membersOf(type)];
}

it.each(Object.entries(ENTRIES))('%s', async (entry, file) => {
  const source = program.getSourceFile(SRC + file);
  const module = source && checker.getSymbolAtLocation(source);
  const exported = module === undefined ? [] : checker.getExportsOfModule(module);
  expect(exported.length).toBeGreaterThan(0);
  const sorted = [...exported].sort((a, b) => (a.name < b.name ? -1 : 1));
  await expect(`${sorted.flatMap(linesOf).join('\n')}\n`).toMatchFileSnapshot(`api/${entry}.txt`);
});
