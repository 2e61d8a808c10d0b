/** Runs before the first test: installs what only tests need. Quick if it is installed already. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../scripts/install-packages.mjs', import.meta.url));

export default function installPackages(): void {
  execFileSync(process.execPath, [PROGRAM, 'tests'], { stdio: 'inherit' });
}
