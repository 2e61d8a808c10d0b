/** Node with nothing loaded, which answers its first line: what a start costs at the least. */
process.stdin.once('data', () => process.stdout.write('{"jsonrpc":"2.0","id":1,"result":{}}\n'));
