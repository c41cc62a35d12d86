/** localPath returns next if it is an address of the console on origin, else the console's first page. */
export function localPath(next: string | undefined, origin = window.location.origin): string {
  const start = '/app';
  if (next === undefined || next === '') return start;
  try {
    const url = new URL(next, origin);
    const inside = url.pathname === start || url.pathname.startsWith(`${start}/`);
    return url.origin === origin && inside ? url.pathname + url.search + url.hash : start;
  } catch {
    return start;
  }
}
