/** What the frame of a mail tells: that it is ready for one, or how high the mail is and what was left out of it. */
export type Notice = 'ready' | { height: number; left: number };

const mostHeight = 20_000;

/** readNotice returns what a message of the frame says; null for anything else. The frame holds a stranger's mail. */
export function readNotice(data: unknown): Notice | null {
  if (data === 'ready') return data;
  if (typeof data !== 'object' || data === null || !('height' in data) || !('left' in data)) return null;
  const { height, left } = data;
  if (typeof height !== 'number' || typeof left !== 'number') return null;
  if (!Number.isFinite(height) || !Number.isSafeInteger(left) || height < 0 || left < 0) return null;
  return { height: Math.min(Math.ceil(height), mostHeight), left };
}
