#!/usr/bin/env node
/** The program of the `vitrine` command. */
import { keepCompiled } from './compile-cache.ts';

keepCompiled();
// The import comes after the call, so that the program is loaded from the compile cache.
const { runCommand } = await import('./command.ts');
await runCommand();
