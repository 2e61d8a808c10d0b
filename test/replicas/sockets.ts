/** Finds the sockets of a process, as Linux lists them. */
import { readdir, readFile, readlink } from 'node:fs/promises';

/** States of a TCP socket, in hexadecimal. */
const STATES = { listening: '0A', connected: '01' } as const;

/** Whether a process has a socket in that state at a local port. */
export async function hasSocket(pid: number, port: number, state: keyof typeof STATES): Promise<boolean> {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).split('\n').map((row) => row.trim().split(/\s+/));
  const sockets = rows.filter(([, local, , is]) => local?.endsWith(end) && is === STATES[state]).map((row) => row[9]);
  const files = await readdir(`/proc/${pid}/fd`);
  const open = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')));
  return sockets.some((inode) => open.includes(`socket:[${inode}]`));
}
