/** Reads server-sent events as MCP uses them: the data of each event is one JSON message. */

/** The most characters of one event. */
const MAX_EVENT = 64 * 1024 * 1024;

/** Gives the data of each event. @throws Error for an event that is too long */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  /** The beginning of a line whose end has not arrived. */
  let line = '';
  let data: string[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      // Only the new text is looked at, so that a long event takes time in proportion to its length.
      const pieces = value.split('\n');
      const last = pieces.pop() ?? '';
      for (const piece of pieces) {
        const whole = line + piece;
        const ended = whole.endsWith('\r') ? whole.slice(0, -1) : whole;
        line = '';
        length += piece.length + 1;
        if (length > MAX_EVENT) throw tooLong();
        if (ended.startsWith('data:')) data.push(ended.slice(ended[5] === ' ' ? 6 : 5));
        if (ended !== '') continue;
        if (data.length > 0) yield data.join('\n');
        data = [];
        length = 0;
      }
      line += last;
      length += last.length;
      if (length > MAX_EVENT) throw tooLong();
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

const tooLong = (): Error => new Error('An event is too long');
