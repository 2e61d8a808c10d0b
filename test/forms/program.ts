/** The built program that converts documents, found from the place of the built command. */
import { pathToFileURL } from 'node:url';
import { CLI } from '../e2e/harness.ts';

export const PROGRAM = new URL('../layers/alternatives/program.js', pathToFileURL(CLI));
