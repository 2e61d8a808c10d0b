/** A connection over streams in this process. */
import { PassThrough } from 'node:stream';
import { serveStdio, type Vitrine } from '../../../src/index.ts';
import { until, within } from '../../e2e/waiting.ts';

export interface StdioWire {
  /** Writes unchanged. */
  write(bytes: string | Buffer): void;
  /** The received lines. */
  readonly lines: readonly string[];
  /** Whether the connection has ended. */
  readonly ended: boolean;
  /** Resolves when that many lines have come in total, or the connection has ended. */
  arrived(lines: number): Promise<void>;
  /** Closes the input. The connection ends after the answers. */
  end(): Promise<void>;
}

/** @param onLine is called with each line that comes */
export function stdioWire(vitrine: Vitrine, onLine: (line: string) => void = () => {}): StdioWire {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const lines: string[] = [];
  let rest = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    const pieces = (rest + text).split('\n');
    rest = pieces.pop() ?? '';
    for (const line of pieces) {
      lines.push(line);
      onLine(line);
    }
  });
  const serving = serveStdio(vitrine, { input, output });
  let ended = false;
  void serving.closed.then(() => {
    ended = true;
  });
  return {
    write: (bytes) => void input.write(bytes),
    lines,
    get ended() {
      return ended;
    },
    arrived: async (count) => {
      await until(() => ended || lines.length >= count, `line ${count}, after ${lines.join('\n').slice(-500)}`);
    },
    async end() {
      input.end();
      await within(serving.closed, 'the end of the connection');
      if (rest !== '') lines.push(`${rest} (without an end)`);
    },
  };
}
