/** Servers with one mistake each, and the check that finds it. */
import { OF_HTTP } from './faults-http.ts';
import { OF_THE_PROTOCOL } from './faults-protocol.ts';
import { OF_SKILLS } from './faults-skills.ts';
import type { Planted } from './planting.ts';

export const PLANTED: readonly Planted[] = [...OF_THE_PROTOCOL, ...OF_HTTP, ...OF_SKILLS];

/** Checks that other tests cover, because they need a program or another machine. */
export const ELSEWHERE: readonly string[] = ['http-secure', 'stdio-garbage', 'stdout-pure', 'stdin-end'];
