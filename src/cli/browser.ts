/** The browser of whoever runs the command. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { UsageError } from './errors.ts';

/**
 * Starts it at an address, and does not wait for its end. `BROWSER` names another program, as it does for `xdg-open`.
 * @param url is `https:` or `http:`, as `URL` writes it: it goes to a program as one argument, and to no shell
 * @param otherwise the way out that is told where there is no such program
 * @throws UsageError where there is no such program
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

/** Whether there is a screen that a browser could be seen on, or a program that is to be used in any case. */
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
