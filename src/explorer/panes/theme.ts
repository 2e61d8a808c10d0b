/** Chooses between the light and the dark theme: the system's setting applies until the user chooses one. */

const KEY = 'vitrine.theme';

export function restoreTheme(): void {
  const theme = recall(KEY);
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
}

export function nextTheme(): void {
  const isDark =
    document.documentElement.dataset.theme === 'dark' ||
    (document.documentElement.dataset.theme === undefined && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = isDark ? 'light' : 'dark';
  keep(KEY, isDark ? 'light' : 'dark');
}

/** Returns the text that was kept under a key; undefined if there is none, or if the browser forbids storage. */
export function recall(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a text for the next visit, if the browser allows storage. */
export function keep(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // Without storage, the setting lasts until the user leaves the page.
  }
}
