/** Is imported before a program: writes a line at each start of it. */
import { appendFileSync } from 'node:fs';

appendFileSync(/** @type {string} */ (process.env.STARTS), `${process.pid}\n`);
