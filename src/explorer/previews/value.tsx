/** Shows data as a tree whose branches open and close. */
import { useState } from 'preact/hooks';
import { countText } from '../../frontends/explorer/figures.ts';
import { TEXTS } from '../texts.ts';
import { visible } from './plain-text.tsx';

/** The most members of one object or array that are drawn. */
const MAX_MEMBERS = 500;

/** The number of levels that are open at first. */
const OPEN_LEVELS = 2;

/** A branch with more members than this is closed at first. */
const OPEN_MEMBERS = 40;

type Row = Readonly<Record<string, unknown>>;

/** The most columns of a table. */
const MAX_COLUMNS = 32;

/** Returns the columns of an array whose members are all flat objects, so that it can be shown as a table; else undefined. */
function columnsOf(value: object): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length < 2) return undefined;
  const isFlat = (each: unknown): each is Row =>
    typeof each === 'object' &&
    each !== null &&
    !Array.isArray(each) &&
    Object.values(each).every((part) => typeof part !== 'object' || part === null);
  if (!value.every(isFlat)) return undefined;
  const columns = [...new Set(value.flatMap((each) => Object.keys(each)))];
  return columns.length > 0 && columns.length <= MAX_COLUMNS ? columns : undefined;
}

function Rows({ columns, rows }: { readonly columns: readonly string[]; readonly rows: readonly Row[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys can scroll this element only when it has the focus
    <section class="scrolls" tabIndex={0} aria-label={TEXTS.rows}>
      <table class="data">
        <thead>
          <tr>
            {columns.map((each) => (
              <th key={each} scope="col">
                {visible(each)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_MEMBERS).map((row, at) => (
            <tr key={at}>
              {columns.map((each) => (
                <td key={each} class={typeof row[each] === 'number' ? 'n' : ''}>
                  {row[each] === undefined || row[each] === null ? '' : visible(String(row[each]))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface ValueProps {
  readonly value: unknown;
  readonly level: number;
  readonly name?: string;
}

export function Value({ value, level, name }: ValueProps) {
  const [wasOpen, setOpen] = useState<boolean>();
  const label = name !== undefined && <span class="key">{visible(name)}: </span>;
  if (typeof value !== 'object' || value === null)
    return (
      <div class="leaf">
        {label}
        <span class={`v-${value === null ? 'null' : typeof value}`}>
          {typeof value === 'string' ? visible(value) : String(value)}
        </span>
      </div>
    );
  const members = Object.entries(value);
  const columns = columnsOf(value);
  const isShort = members.length <= OPEN_MEMBERS || columns !== undefined;
  const isOpen = wasOpen ?? (level === 0 || (level < OPEN_LEVELS && isShort));
  const [from, to] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {label}
        <span class="soft">
          {from} {countText(members.length)} {to}
        </span>
      </summary>
      {isOpen && columns !== undefined && <Rows columns={columns} rows={value as readonly Row[]} />}
      {isOpen && columns === undefined && (
        <div class="members">
          {members.slice(0, MAX_MEMBERS).map(([key, each]) => (
            <Value key={key} name={key} value={each} level={level + 1} />
          ))}
          {members.length > MAX_MEMBERS && <div class="soft">… {countText(members.length - MAX_MEMBERS)}</div>}
        </div>
      )}
    </details>
  );
}
