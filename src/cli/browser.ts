/** Opens the user's browser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { UsageError } from './errors.ts';

/**
 * Starts the browser at an address, and does not wait for its end. `BROWSER` names another program, as it does for `xdg-open`.
 * @param url `https:` or `http:`, as `URL` writes it; the program gets it as one argument, without a shell
 * @param otherwise what the user can do instead, for the error
 * @throws UsageError if the program cannot be started
 */
export async function openInBrowser(url: string, otherwise: string): Promise<void> {
  const [command, ...args] = opener();
  const started = spawn(command, [...args, url], { detached: true, stdio: 'ignore', shell: false, windowsHide: true });
  try {
    await once(started, 'spawn');
  } catch {
    throw new UsageError(`There is no ${command} to open it with; ${otherwise}`);
  }
  started.unref();
}

/** Whether a browser could be shown: there is a screen, or `BROWSER` names a program. */
export function hasDisplay({ BROWSER, DISPLAY, WAYLAND_DISPLAY }: NodeJS.ProcessEnv = process.env): boolean {
  if (process.platform === 'darwin' || process.platform === 'win32') return true;
  return [BROWSER, DISPLAY, WAYLAND_DISPLAY].some((each) => each !== undefined && each !== '');
}

function opener(): readonly [command: string, ...args: string[]] {
  const { BROWSER: named } = process.env;
  if (named !== undefined && named !== '') return [named];
  if (process.platform === 'darwin') return ['open'];
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return ['xdg-open'];
}
