/** A name server that knows one name, like the network of a composition for the replicas of a service. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface Names extends AsyncDisposable {
  readonly port: number;
}

const TYPE_A = 1;
const HEADER_BYTES = 12;
/** The bytes after the name of a question: its type and class. */
const QUESTION_TAIL_BYTES = 4;

/** Answers questions for IPv4 addresses of the name, in any domain. Other questions get no addresses. */
export async function serveNames(name: string, addresses: readonly string[]): Promise<Names> {
  const socket = createSocket('udp4');
  socket.on('message', (question, { port, address }) => {
    const end = question.indexOf(0, HEADER_BYTES) + 1;
    const asked = question.subarray(HEADER_BYTES + 1, HEADER_BYTES + 1 + (question[HEADER_BYTES] ?? 0)).toString();
    const found = asked === name && question.readUInt16BE(end) === TYPE_A ? addresses : [];
    const header = Buffer.alloc(HEADER_BYTES);
    question.copy(header, 0, 0, 2);
    // An answer, recursion desired and available, no error; one question.
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(found.length, 6);
    const answers = found.map((each) => {
      // The name of the question, type A, class IN, one second, four bytes.
      const head = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 1, 0, 4]);
      return Buffer.concat([head, Buffer.from(each.split('.').map(Number))]);
    });
    const body = question.subarray(HEADER_BYTES, end + QUESTION_TAIL_BYTES);
    socket.send(Buffer.concat([header, body, ...answers]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    port: socket.address().port,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
}
