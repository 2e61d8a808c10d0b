/** Describes tables (columns, keys and links) and the content of a database, as JSON and Markdown. */
import type { ShownCatalogue } from './catalogues.ts';
import type { Column, Dialect, Table, TableName } from './dialect.ts';
import { jsonText } from './json.ts';
import { relativeReference } from './links.ts';
import { escaped, link, tableHead, tableLine } from './markdown.ts';
import { COUNT, isKeyed, ROWS, SCHEMA, tablePath } from './place.ts';
import { JSON_TYPE, MARKDOWN_TYPE, type Rendered } from './sheets.ts';

/** The formats of a description; the first is the primary one. */
export const DESCRIPTION_FORMATS: readonly string[] = [JSON_TYPE, MARKDOWN_TYPE];

export const displayName = ({ schema, name }: TableName): string => (schema === undefined ? name : `${schema}.${name}`);

/** @param known the visible tables: a foreign key to any other table is left out */
export function describeTable(found: Table, known: ShownCatalogue, formats: readonly string[]): readonly Rendered[] {
  const table = known.find(found.schema, found.name) ?? { ...found, foreignKeys: [] };
  const path = tablePath(table);
  const here = [...path, SCHEMA];
  const to = (target: readonly string[]): string => relativeReference(here, target);
  const foreignKeys = table.foreignKeys.map(({ columns, table: target, references }) => ({
    columns,
    ...nameOf(target),
    references,
    uri: to([...tablePath(target), SCHEMA]),
  }));
  const referring = known.referring(table).map(({ table: other, key }) => ({
    ...nameOf(other),
    columns: key.columns,
    references: key.references,
    uri: to([...tablePath(other), SCHEMA]),
  }));
  const key = table.identity?.columns.map(({ name }) => name);

  const json = (): string =>
    jsonText({
      ...nameOf(table),
      kind: table.kind,
      ...(table.comment !== undefined && { comment: table.comment }),
      columns: table.columns.map(columnFacts),
      primaryKey: table.primaryKey,
      rows: {
        uri: to([...path, ROWS]),
        count: to([...path, COUNT]),
        ...(key !== undefined && { key, keyIs: table.identity?.of, template: `${to(path)}/{${key.join(',')}}` }),
      },
      foreignKeys,
      referencedBy: referring,
      indexes: table.indexes,
    });

  const markdown = (): string => {
    const columns = table.columns.map(({ name, type, nullable, default: value, comment }) =>
      tableLine([
        escaped(name) + (table.primaryKey.includes(name) ? ' (key)' : ''),
        escaped(type),
        nullable ? 'yes' : 'no',
        escaped(value ?? ''),
        escaped(comment ?? ''),
      ]),
    );
    const list = (title: string, lines: readonly string[]): string =>
      lines.length === 0 ? '' : `\n## ${title}\n\n${lines.map((line) => `- ${line}\n`).join('')}`;
    const names = (all: readonly string[]): string => all.map(escaped).join(', ');
    return [
      `# ${escaped(displayName(table))}\n\n`,
      table.comment === undefined ? '' : `${escaped(table.comment)}\n\n`,
      `A ${table.kind}. ${link('Rows', to([...path, ROWS]))}, ${link('row count', to([...path, COUNT]))}.\n\n`,
      `${tableHead(['column', 'type', 'NULL', 'default', 'comment'])}${columns.join('')}`,
      isKeyed(table)
        ? `\nRows are found by their ${table.identity.of}: ${names(key ?? [])}.\n`
        : '\nRows have no key.\n',
      list(
        'Foreign keys',
        table.foreignKeys.map(({ columns: own, table: target, references }) => {
          const leads = link(escaped(displayName(target)), to([...tablePath(target), SCHEMA]));
          return `${names(own)} is ${names(references)} of ${leads}`;
        }),
      ),
      list(
        'Referred to by',
        known.referring(table).map(({ table: other, key: { columns: own } }) => {
          const leads = link(escaped(displayName(other)), to([...tablePath(other), SCHEMA]));
          return `${names(own)} of ${leads}`;
        }),
      ),
      list(
        'Indexes',
        table.indexes.map(
          (index) => `${escaped(index.name)}: ${names(index.columns)}${index.unique ? ' (unique)' : ''}`,
        ),
      ),
    ].join('');
  };

  return formats.map((mimeType) => ({ mimeType, text: mimeType === MARKDOWN_TYPE ? markdown() : json() }));
}

const nameOf = ({ schema, name }: TableName) => ({ ...(schema !== undefined && { schema }), table: name });

const columnFacts = ({ name, type, nullable, default: value, generated, comment }: Column) => ({
  name,
  type,
  nullable,
  ...(value !== undefined && { default: value }),
  ...(generated && { generated }),
  ...(comment !== undefined && { comment }),
});

/** Describes all tables of a database, or of one schema. */
export function describeAll(
  dialect: Dialect,
  schema: string | undefined,
  known: ShownCatalogue,
  formats: readonly string[],
): readonly Rendered[] {
  const tables = schema === undefined ? known.tables : known.within(schema);
  const here = schema === undefined ? [SCHEMA] : [...tablePath({ schema, name: 'x' }).slice(0, 1), SCHEMA];
  const uri = (table: Table): string => relativeReference(here, [...tablePath(table), SCHEMA]);
  const json = (): string =>
    jsonText({
      database: dialect.title,
      tables: tables.map((table) => ({
        ...nameOf(table),
        kind: table.kind,
        ...(table.comment !== undefined && { comment: table.comment }),
        columns: table.columns.map(({ name }) => name),
        uri: uri(table),
      })),
    });
  const markdown = (): string => {
    const lines = tables.map((table) =>
      tableLine([
        link(escaped(displayName(table)), uri(table)),
        table.kind,
        table.columns.map(({ name }) => escaped(name)).join(', '),
        escaped(table.comment ?? ''),
      ]),
    );
    return `# ${dialect.title}${schema === undefined ? '' : `: ${escaped(schema)}`}\n\n${tableHead(['name', 'kind', 'columns', 'comment'])}${lines.join('')}`;
  };
  return formats.map((mimeType) => ({ mimeType, text: mimeType === MARKDOWN_TYPE ? markdown() : json() }));
}
