/** The text of manual pages in Markdown, so that everybody who searches it reads the same. */

/** Macros whose arguments are text in fonts that change with each argument, without spaces between. */
const ALTERNATING = /^\.(?:BR|RB|IR|RI|BI|IB)\b/;
const FONT = /^\.(?:B|I|SM|SB)\b/;
const HEADING = /^\.(?<macro>SH|SS)\b\s*(?<title>.*)$/;
const BREAK = /^\.(?:PP|P|LP|TP|IP|Sp|sp|br|HP|TQ)\b/;

/**
 * Converts a page. Undefined for a page without a section NAME, such as one that only refers to another.
 * @param {string} source
 * @returns {{name: string, text: string} | undefined} the section NAME in one line, and the rest
 */
export function manualPage(source) {
  // Everything before the title is definitions and remarks.
  const lines = source.slice(Math.max(0, source.search(/^\.TH\b/m))).split('\n');
  /** @type {string[]} */
  const text = [];
  /** @type {string[]} */
  const name = [];
  let into = text;
  for (let at = 1; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const heading = HEADING.exec(line)?.groups;
    if (heading !== undefined) {
      const title = plain(unquoted(heading.title || lines[++at] || ''));
      into = title === 'NAME' || title === 'Name' ? name : text;
      if (into === text) text.push('', `${heading.macro === 'SH' ? '#' : '##'} ${title}`, '');
    } else if (BREAK.test(line)) into.push('');
    else if (ALTERNATING.test(line)) into.push(plain(argumentsOf(line).join('')));
    else if (FONT.test(line)) into.push(plain(argumentsOf(line).join(' ')));
    else if (!/^['.]/.test(line)) into.push(plain(line));
  }
  return name.length === 0 ? undefined : { name: name.join(' ').replace(/\s+/g, ' ').trim(), text: text.join('\n') };
}

/** @param {string} line */
const argumentsOf = (line) => [...line.slice(3).matchAll(/"((?:[^"]|"")*)"|(\S+)/g)].map(([, a, b]) => a ?? b ?? '');

/** @param {string} title */
const unquoted = (title) => title.replace(/^"(.*)"\s*$/, '$1').trim();

/** @param {string} text */
function plain(text) {
  return text
    .replace(/\\".*$/, '')
    .replace(/\\f(?:\[[^\]]*\]|\(..|.)/g, '')
    .replace(/\\s(?:[-+]?\d+|\[[^\]]*\])/g, '')
    .replace(/\\(?:\*\(|\()(?:lq|rq|L"|R"|dq|C`|C')/g, '"')
    .replace(/\\\(aq/g, "'")
    .replace(/\\(?:\(|\*\(|\[)(?:em|en|hy|\*\(--)\]?/g, '-')
    .replace(/\\(?:\*\[[^\]]*\]|\[[^\]]*\]|\*\(..|\(..|\*.)/g, '')
    .replace(/\\[&|^,/%:c]/g, '')
    .replace(/\\[~0 ]/g, ' ')
    .replace(/\\-/g, '-')
    .replace(/\\e/g, '\\')
    .replace(/\\(.)/g, '$1')
    .trimEnd();
}
