#!/usr/bin/env node
/** The `vitrine` command. */
import { keepCompiled } from './compile-cache.ts';

keepCompiled();
// Loaded after that, so that what is kept of it is used.
const { runCommand } = await import('./command.ts');
await runCommand();
