/** Resolves the relative links of a document. */

/** Returns the URI that a relative link leads to; undefined for a link of any other kind. @param base the URI of the document */
export function resolved(href: string, base: string): string | undefined {
  const [, root = '', path = ''] = /^([a-z][a-z0-9+.-]*:\/\/[^/]*\/)(.*)$/s.exec(base) ?? [];
  const plain = href.replace(/[?#].*$/s, '');
  if (root === '' || plain === '' || /^[a-z][a-z0-9+.-]*:|^\/\/|\\/i.test(plain)) return undefined;
  const segments = plain.startsWith('/') ? [] : path.split('/').slice(0, -1);
  for (const each of plain.replace(/^\/+|\/+$/g, '').split('/')) {
    if (each === '..') segments.pop();
    else if (each !== '.' && each !== '')
      segments.push(each.replace(/[^A-Za-z0-9._~!$&'()*+,;=:@%-]/gu, encodeURIComponent));
  }
  return root + segments.join('/');
}
