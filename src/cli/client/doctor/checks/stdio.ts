/** Checks of a program over stdio: it writes only messages, survives a wrong line, and ends when its input ends. They run last. */
import { type Check, type CheckContext, ok, problem } from '../check.ts';
import { answerText } from '../wire.ts';
import type { StdioWire } from '../wire-stdio.ts';

const group = 'Standard input and output';

const pipesOf = ({ wire }: CheckContext): StdioWire => {
  if (wire.transport !== 'stdio') throw new Error('This check is for standard input and output');
  return wire;
};

export const STDIO_CHECKS: readonly Check[] = [
  {
    id: 'stdio-garbage',
    group,
    title: 'A line that is no message does not stop the server',
    clause: 'JSON-RPC 2.0, 5.1 (-32700)',
    level: 'error',
    transport: 'stdio',
    async run(ctx) {
      const wire = pipesOf(ctx);
      wire.write('this is no message');
      const answer = await (ctx.era === 'legacy' ? wire.ask('ping') : wire.ask('server/discover'));
      if (answer.kind !== 'none') return ok();
      return problem(
        `The next request was not answered: ${answerText(answer)}`,
        'Answer -32700 (Parse error), and go on.',
      );
    },
  },
  {
    id: 'stdout-pure',
    group,
    title: 'Standard output contains only messages',
    clause: 'basic/transports, stdio',
    level: 'error',
    transport: 'stdio',
    async run(ctx) {
      const { first, count } = pipesOf(ctx).impure;
      if (count === 0) return ok();
      return problem(`${count} line(s), the first: ${first}`, 'Write logs to standard error.');
    },
  },
  {
    id: 'stdin-end',
    group,
    title: 'The server ends when its standard input is closed',
    clause: 'basic/lifecycle, Shutdown, stdio',
    level: 'warning',
    transport: 'stdio',
    async run(ctx) {
      const { endMs } = ctx.limits;
      if (await pipesOf(ctx).end(endMs)) return ok();
      const mend = 'End when standard input ends: a host that crashes sends no other signal.';
      return problem(`The program was still running after ${endMs / 1_000} s`, mend);
    },
  },
];
