// The other program of `hands.ts`.
import fs from 'node:fs';

let repeating;
let rounds = 0;

/** One round, then a turn for messages; a step that fails does not keep the next one from being taken. */
function round() {
  if (repeating === undefined) return;
  for (const step of repeating) {
    try {
      take(step);
    } catch {}
  }
  rounds++;
  setImmediate(round);
}

function take([operation, ...args]) {
  if (operation === 'writeMany') {
    const [path, count, last] = args;
    for (let index = 1; index < count; index++) fs.writeFileSync(path, `${index}`);
    fs.writeFileSync(path, last);
  } else if (operation === 'createMany') {
    const [folder, prefix, count] = args;
    for (let index = 0; index < count; index++) fs.writeFileSync(`${folder}/${prefix}${index}`, '');
  } else if (operation === 'removeMany') {
    const [folder, prefix, count] = args;
    for (let index = 0; index < count; index++) fs.rmSync(`${folder}/${prefix}${index}`, { force: true });
  } else {
    fs[`${operation}Sync`](...args);
  }
}

process.on('message', ({ id, steps, repeat, stop }) => {
  try {
    if (repeat !== undefined) {
      repeating = repeat;
      rounds = 0;
      setImmediate(round);
    }
    if (stop) repeating = undefined;
    for (const step of steps ?? []) take(step);
    process.send({ id, rounds });
  } catch (error) {
    process.send({ id, error: String(error) });
  }
});
process.on('disconnect', () => process.exit());
process.send('ready');
