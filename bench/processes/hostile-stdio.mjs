/** An MCP server over standard input and output. Argument: a file of results by method, as JSON texts. */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const results = JSON.parse(readFileSync(process.argv[2], 'utf8'));
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) continue;
  const result = results[method];
  process.stdout.write(
    result === undefined
      ? `${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } })}\n`
      : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}\n`,
  );
}
