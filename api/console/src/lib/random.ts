/** randomId returns 128 random bits as hexadecimal. crypto.randomUUID exists only on https and on localhost. */
export function randomId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('');
}
