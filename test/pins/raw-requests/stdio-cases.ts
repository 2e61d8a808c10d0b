/** Conversations over standard input and output. */
import { textIn } from './eras.ts';
import { section, sent, visible } from './record.ts';
import type { Scene } from './scene.ts';
import { stdioWire } from './wire-stdio.ts';

export interface StdioStep {
  /** Text and bytes are written unchanged, everything else as JSON on one line. */
  readonly say: unknown;
  /** Continues after that many lines. Default: 1. After 0, lines that come belong to a later step. */
  readonly lines?: number;
}

export interface StdioCase {
  readonly name: string;
  readonly steps: readonly StdioStep[];
}

/** Runs the cases one after the other, so that changes in one are not reported in the others. */
export async function recordStdio(scene: Scene, table: readonly StdioCase[]): Promise<string> {
  const sections: string[] = [];
  for (const each of table) sections.push(await record(scene, each));
  return sections.join('\n');
}

async function record({ vitrine }: Scene, { name, steps }: StdioCase): Promise<string> {
  const wire = stdioWire(vitrine);
  const shown: string[] = [];
  let read = 0;
  const take = (): string => {
    const lines = wire.lines.slice(read);
    read = wire.lines.length;
    return lines.length === 0 ? '' : `\n${visible(lines.join('\n'))}`;
  };
  for (const { say, lines = 1 } of steps) {
    const bytes = textIn('legacy', say);
    wire.write(typeof say === 'string' || Buffer.isBuffer(say) ? bytes : `${bytes}\n`);
    await wire.arrived(read + lines);
    shown.push(`> ${sent(bytes.toString('latin1'))}${lines === 0 ? '' : take()}`);
  }
  const ended = wire.ended ? '\nthe server has ended it' : '';
  await wire.end();
  return section(name, ...shown, `at the end${take() || ' nothing more'}${ended}`);
}
