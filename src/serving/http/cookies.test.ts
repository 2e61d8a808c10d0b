import { expect, it } from 'vitest';
import { cookiesIn } from './cookies.ts';

it.each([
  [undefined, []],
  [null, []],
  ['', []],
  ['id=1', ['1']],
  ['a=b; id=1', ['1']],
  ['id=1; id=2', ['1', '2']],
  // Two headers, joined as by Node.js, and as by the Fetch API.
  ['id=1;id=2, id=3', ['1', '2', '3']],
  ['id=; id', []],
  ['xid=1; id =2; ID=3', []],
])('of the cookies %j, those with the name are found', (sent, found) => {
  expect(cookiesIn(sent, 'id')).toEqual(found);
});
