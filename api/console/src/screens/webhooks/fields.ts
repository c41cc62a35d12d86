/** What the forms of a webhook hold. */
export interface WebhookFields {
  url: string;
  events: readonly string[];
  description: string;
  /** As typed; "" is no limit. */
  rateLimit: string;
}

/** parseRateLimit returns the limit that was typed: null for none, undefined if it is no whole number. */
export function parseRateLimit(text: string): number | null | undefined {
  const plain = text.trim();
  if (plain === '') return null;
  return /^\d{1,9}$/.test(plain) ? Number(plain) : undefined;
}
