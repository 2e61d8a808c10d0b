/** Finds users and passwords in URLs: errors, logs and lists show URLs, so secrets do not belong there. */

const USER = /^\s*https?:[\\/]*[^\\/?#]*@/i;

/** Whether a URL, or a template of URLs, has a user or a password in it. One that cannot be parsed may have them, too. */
export function hasUser(url: string): boolean {
  const { username = '', password = '' } = URL.canParse(url) ? new URL(url) : {};
  return username !== '' || password !== '' || USER.test(url);
}
