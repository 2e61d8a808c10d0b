/** Shows CSV or TSV as a table. */
import { parseCsv } from 'hucre/csv';
import { useMemo } from 'preact/hooks';
import { countText } from '../../frontends/explorer/figures.ts';
import { TEXTS } from '../texts.ts';
import { PlainText, visible } from './plain-text.tsx';
import type { PreviewProps } from './props.ts';

/** The most rows that are drawn. */
const MAX_ROWS = 500;

/** The most columns that are drawn. */
const MAX_COLUMNS = 64;

export default function Table({ thing }: PreviewProps) {
  const { text = '', type, window } = thing;
  const rows = useMemo(() => rowsOf(text, type, window !== undefined), [text, type, window]);
  const [head, ...body] = rows ?? [];
  if (head === undefined) return <PlainText text={text} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys can scroll this element only when it has the focus
    <section class="scrolls" tabIndex={0} aria-label={TEXTS.rows}>
      <table class="data">
        <thead>
          <tr>
            {head.map((each) => (
              <th scope="col">{each}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {body.slice(0, MAX_ROWS).map((row) => (
            <tr>
              {head.map((_, at) => (
                <td class={/^-?[\d.,\s]+%?$/.test(row[at] ?? '') ? 'n' : ''}>{row[at]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {body.length > MAX_ROWS && <p class="soft">{TEXTS.rowsShown(countText(MAX_ROWS))}</p>}
    </section>
  );
}

/** Returns the rows; undefined if the text cannot be parsed. @param isPart leaves out the last row, which may have been cut */
function rowsOf(text: string, type: string, isPart: boolean): readonly (readonly string[])[] | undefined {
  try {
    const delimiter = type === 'text/tab-separated-values' ? '\t' : undefined;
    const rows = parseCsv(text, { skipEmptyRows: true, maxRows: MAX_ROWS + 2, ...(delimiter && { delimiter }) });
    return (isPart ? rows.slice(0, -1) : rows).map((row) =>
      row.slice(0, MAX_COLUMNS).map((each) => visible(String(each ?? ''))),
    );
  } catch {
    return undefined;
  }
}
