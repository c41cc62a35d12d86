/** A file of a mail, as the API takes it. */
export interface Attachment {
  id: string;
  name: string;
  type: string;
  size: number;
  /** In base64. */
  content: string;
}

/** What the API takes of one mail. */
export const mostBytes = 10 << 20;
export const mostFiles = 20;
const longestName = 200;

/** Why a file is not attached. */
export interface Refusal {
  name: string;
  reason: 'tooMany' | 'tooLarge' | 'unreadable';
}

export function sumOf(files: readonly Pick<Attachment, 'size'>[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** choose splits files into those that fit beside what is attached, in order, and the others with the reason. */
export function choose<F extends { name: string; size: number }>(
  attached: readonly Pick<Attachment, 'size'>[],
  files: readonly F[],
): { taken: F[]; refused: Refusal[] } {
  const taken: F[] = [];
  const refused: Refusal[] = [];
  let bytes = sumOf(attached);
  for (const file of files) {
    if (attached.length + taken.length >= mostFiles) refused.push({ name: file.name, reason: 'tooMany' });
    else if (bytes + file.size > mostBytes) refused.push({ name: file.name, reason: 'tooLarge' });
    else {
      bytes += file.size;
      taken.push(file);
    }
  }
  return { taken, refused };
}

/** shortName returns a name that the API takes, with its ending. */
export function shortName(name: string): string {
  const letters = [...name];
  if (letters.length <= longestName) return name === '' ? 'file' : name;
  const ending = [...(/\.[^.]{1,10}$/.exec(name)?.[0] ?? '')];
  return [...letters.slice(0, longestName - ending.length), ...ending].join('');
}

/** toBase64 returns bytes in base64. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  const part = 0x8000; // arguments of one call
  for (let at = 0; at < bytes.length; at += part) binary += String.fromCharCode(...bytes.subarray(at, at + part));
  return btoa(binary);
}

/** readFile returns a file as an attachment. */
export async function readFile(file: File, id: string): Promise<Attachment> {
  const content = toBase64(new Uint8Array(await file.arrayBuffer()));
  return { id, name: shortName(file.name), type: file.type || 'application/octet-stream', size: file.size, content };
}
