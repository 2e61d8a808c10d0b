/** Reads the cookies of a request. */

/**
 * The values of all cookies with a name, without empty ones.
 * @param sent the header `Cookie`. A client may send it more than once, and the values are then joined with a comma or a semicolon
 */
export const cookiesIn = (sent: string | null | undefined, name: string): readonly string[] =>
  (sent ?? '').split(/[;,]/).flatMap((each) => {
    const [found, value = ''] = each.trim().split('=', 2);
    return found === name && value !== '' ? [value] : [];
  });
