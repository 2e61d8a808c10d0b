/**
 * The program of the processes that convert. It runs conversions one after the other, as they are sent. It is a process and not
 * a thread, because files are unpacked into memory outside of the heap, which has no limit in a thread.
 */
import { Worker } from 'node:worker_threads';
import { ResourceError } from '../../core/errors.ts';
import type { Conversion } from './converters/converter.ts';
import { CONVERTERS } from './converters/index.ts';

/** A conversion as it is sent to the program. */
export interface Task extends Conversion {
  readonly id: number;
  readonly converter: string;
  readonly bytes: Uint8Array;
}

/** The answer of the program. */
export type Answer =
  | { readonly id: number; readonly format: string | Uint8Array; readonly usedBytes: number }
  | { readonly id: number; readonly tooLarge: string; readonly details: Readonly<Record<string, unknown>> }
  | { readonly id: number; readonly failed: string };

/** The guard writes this to standard error before it ends a process that takes too much memory. */
export const OUT_OF_MEMORY = 'out of memory';

/** How often the guard checks the memory, in milliseconds. */
const GUARD_MS = 20;

/**
 * The guard watches the memory of the whole process from a thread of its own, since the converting thread never pauses. It ends
 * the process if it takes too much memory, or if the server, which would read the answer, is gone.
 */
const GUARD = `
'use strict';
const { workerData } = require('node:worker_threads');
const { writeSync } = require('node:fs');
const parent = process.ppid;
setInterval(() => {
  const tooMuch = process.memoryUsage.rss() > workerData.maxMemoryBytes;
  if (!tooMuch && process.ppid === parent) return;
  if (tooMuch) writeSync(2, workerData.message);
  process.kill(process.pid, 'SIGKILL');
}, workerData.every);
`;

/** Runs the conversions that the parent process sends, and exits when it is gone. @param maxMemoryBytes of the process */
export function serveConversions({ maxMemoryBytes }: { readonly maxMemoryBytes: number }): void {
  new Worker(GUARD, {
    eval: true,
    workerData: { maxMemoryBytes, message: OUT_OF_MEMORY, every: GUARD_MS },
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4, stackSizeMb: 1 },
  }).unref();
  process.on('disconnect', () => process.exit());
  process.on('message', (task: Task) => {
    convert(task).then(
      (answer) => void process.send?.(answer),
      () => process.exit(1),
    );
  });
}

async function convert(task: Task): Promise<Answer> {
  const { id, converter, bytes, ...conversion } = task;
  try {
    const found = CONVERTERS.find(({ name }) => name === converter);
    if (found === undefined) throw new Error(`There is no converter ${converter}`);
    const format = await found.convert(bytes, conversion);
    const size = typeof format === 'string' ? Buffer.byteLength(format) : format.byteLength;
    if (size > conversion.maxOutputBytes)
      return {
        id,
        tooLarge: `The format is larger than ${conversion.maxOutputBytes} bytes`,
        details: { limit: conversion.maxOutputBytes },
      };
    return { id, format, usedBytes: process.memoryUsage.rss() };
  } catch (error) {
    if (error instanceof ResourceError && error.code === 'too-large')
      return { id, tooLarge: error.message, details: error.details };
    return { id, failed: String(error instanceof Error ? (error.stack ?? error.message) : error).slice(0, 4_000) };
  }
}
