/** Before the first test: what only tests need is installed. In a moment where it is in place. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../scripts/install-packages.mjs', import.meta.url));

export default function installPackages(): void {
  execFileSync(process.execPath, [PROGRAM, 'tests'], { stdio: 'inherit' });
}
