/**
 * Sends prepared requests to a program that speaks MCP over its standard streams, as `raw-connection.mjs` does over HTTP. All
 * connections share the program's pipe, and each answer is matched to its request by its id.
 */
import { startNode, stop } from './processes.mjs';

const ID = /"id":(\d+)/;
const NEW_LINE = 0x0a;

/**
 * @param {readonly string[]} args of Node
 * @param {number | undefined} core
 * @param {readonly object[]} before messages that are sent first; those with an id are waited for
 */
export async function rawStdio(args, core, before) {
  const child = startNode(args, { core, stdin: 'pipe' });
  /** @type {Map<number, {resolve: (size: number) => void, reject: (error: Error) => void}>} */
  const waiting = new Map();
  /** @type {Buffer | undefined} */
  let rest;
  child.stdout.on('data', (/** @type {Buffer} */ chunk) => {
    let received = rest === undefined ? chunk : Buffer.concat([rest, chunk]);
    for (let end = received.indexOf(NEW_LINE); end !== -1; end = received.indexOf(NEW_LINE)) {
      took(received.subarray(0, end));
      received = received.subarray(end + 1);
    }
    rest = received.length === 0 ? undefined : received;
  });
  child.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`the upstream ended with ${code}`));
  });

  /** @param {Buffer} line */
  function took(line) {
    // The id is at one end of a message or the other, outside of its text.
    const text = line.toString('latin1', 0, 64) + line.toString('latin1', Math.max(64, line.length - 64));
    const id = Number(ID.exec(text)?.[1]);
    const call = waiting.get(id);
    waiting.delete(id);
    if (text.includes('"error":')) call?.reject(new Error(`refused: ${line.toString('utf8')}`));
    else call?.resolve(line.length + 1);
  }

  /** @param {object} message with an id that nothing else waits for */
  function connection(message) {
    const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
    const { id } = /** @type {{id: number}} */ (message);
    return {
      /** @returns {Promise<number>} the size of the answer in bytes */
      send: () =>
        new Promise((resolve, reject) => {
          waiting.set(id, { resolve, reject });
          child.stdin.write(bytes);
        }),
      close() {},
    };
  }

  for (const message of before) {
    if ('id' in message) await connection(message).send();
    else child.stdin.write(`${JSON.stringify(message)}\n`);
  }
  return { pid: child.pid, connection, stop: () => stop(child) };
}
