/** Converts arrays in PostgreSQL's own form, such as `{1,NULL,"a,b"}`, to JSON. */

/**
 * Converts one array to JSON. Bounds in front of it, as in `[2:3]={a,b}`, are left out.
 * @param element gives the JSON of an element that is not NULL
 */
export function arrayJson(text: string, delimiter: string, element: (text: string) => string): string {
  let at = text.indexOf('{');
  if (at < 0) return JSON.stringify(text);
  const parts: string[] = [];

  const quoted = (): string => {
    let value = '';
    for (at += 1; at < text.length && text[at] !== '"'; at += 1) {
      if (text[at] === '\\') at += 1;
      value += text[at];
    }
    at += 1;
    return value;
  };

  const bare = (): string => {
    const start = at;
    while (at < text.length && text[at] !== delimiter && text[at] !== '}') at += text[at] === '\\' ? 2 : 1;
    return text.slice(start, at).replace(/\\(.)/gs, '$1');
  };

  // Every turn goes on by at least one character, so the loop ends even if the text is malformed.
  for (let depth = 0; at < text.length; ) {
    const character = text[at];
    if (character === '{') {
      depth += 1;
      parts.push('[');
      at += 1;
    } else if (character === '}') {
      depth -= 1;
      parts.push(']');
      at += 1;
      if (depth === 0) break;
    } else if (character === delimiter) {
      parts.push(',');
      at += 1;
    } else if (character === '"') {
      parts.push(element(quoted()));
    } else {
      const value = bare();
      parts.push(value === 'NULL' ? 'null' : element(value));
    }
  }
  return parts.join('');
}
