/** What the list of suppressions is narrowed by. */
export function searchOf(text: string): { email: string } | { domain: string } | Record<never, never> {
  const plain = text.trim().toLowerCase();
  if (plain.includes('@')) return /^[^@\s]+@[^@\s]+$/.test(plain) ? { email: plain } : {};
  return /^[^\s.]+(\.[^\s.]+)+$/.test(plain) ? { domain: plain } : {};
}

/** targetOf returns what a person wants to suppress: an address, or a domain with every address of it. */
export function targetOf(text: string): { email: string } | { domain: string } {
  const plain = text.trim();
  return plain.includes('@') && !plain.startsWith('@') ? { email: plain } : { domain: plain.replace(/^@/, '') };
}
