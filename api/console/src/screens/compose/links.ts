const schemes = /^(https?:\/\/|mailto:|tel:)\S+$/i;
const fields = /^\{\{\s*(unsubscribe_url|preferences_url)\s*\}\}$/;
const address = /^[^\s@/]+@[^\s@/]+\.[^\s@/]+$/;
const host = /^[^\s/@]+\.[a-z]{2,}(?:[/?#:]\S*)?$/i;

/** safeLink returns where a link of a mail may lead: a page, an address, a phone number or a link of the service. */
export function safeLink(target: string): string | null {
  const trimmed = target.trim();
  return schemes.test(trimmed) || fields.test(trimmed) ? trimmed : null;
}

/** typedLink returns the link that a person means by what they typed, such as example.com; null for none. */
export function typedLink(text: string): string | null {
  const trimmed = text.trim();
  const safe = safeLink(trimmed);
  if (safe !== null) return safe;
  if (address.test(trimmed)) return `mailto:${trimmed}`;
  return host.test(trimmed) ? `https://${trimmed}` : null;
}
