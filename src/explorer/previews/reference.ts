/** References of a document to what lies beside it. */

/** The URI beside this one that a reference names; undefined for what is not below the same root. */
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
