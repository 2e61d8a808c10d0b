/** Light or dark: as the system has it, until a person chooses. */

const KEY = 'vitrine.theme';

export function restoreTheme(): void {
  const kept = recall(KEY);
  if (kept === 'light' || kept === 'dark') document.documentElement.dataset.theme = kept;
}

export function nextTheme(): void {
  const isDark =
    document.documentElement.dataset.theme === 'dark' ||
    (document.documentElement.dataset.theme === undefined && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = isDark ? 'light' : 'dark';
  keep(KEY, isDark ? 'light' : 'dark');
}

/** The text that was kept under a name; undefined where there is none, or nothing may be kept. */
export function recall(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a text for the next visit, where that is allowed. */
export function keep(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // Then it holds until the page is left.
  }
}
