/** The result of checking the signatures of one attempt against a secret. */
export interface Verdict {
  /** X-Service-Signature, over the body. null: the header is absent. */
  service: boolean | null;
  /** The Standard Webhooks headers, over id, time and body. null: one of them is absent. */
  standard: boolean | null;
  /** How many seconds before now the attempt was signed. null without a time. */
  age: number | null;
}

/**
 * checkSignature checks both signatures of an attempt in this browser. body is the body as it was sent; headers are the
 * request's, of any case. A rotated secret gives a header several signatures, of which one must match.
 */
export async function checkSignature(
  secret: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  now = Date.now(),
): Promise<Verdict> {
  const header = (name: string) => Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const bytes = (text: string) => new TextEncoder().encode(text);
  const [id, at] = [header('webhook-id'), header('webhook-timestamp')];
  const [service, standard] = [header('x-service-signature'), header('webhook-signature')];

  const hex = async () => {
    const made = await sign(bytes(secret), bytes(body));
    return Array.from(made, (byte) => byte.toString(16).padStart(2, '0')).join('');
  };
  const base64 = async () => {
    const key = standardKey(secret);
    if (key === null) return null;
    return `v1,${btoa(String.fromCharCode(...(await sign(key, bytes(`${id}.${at}.${body}`)))))}`;
  };
  return {
    service: service === undefined ? null : service.split(',').some(equals(await hex())),
    standard:
      standard === undefined || id === undefined || at === undefined
        ? null
        : standard.split(' ').some(equals(await base64())),
    age: at === undefined || !/^\d+$/.test(at) ? null : Math.round(now / 1000 - Number(at)),
  };
}

const equals = (wanted: string | null) => (given: string) => wanted !== null && given.trim() === wanted;

async function sign(key: Uint8Array<ArrayBuffer>, message: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  if (key.length === 0) return new Uint8Array(); // WebCrypto refuses an empty key
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, message));
}

/** standardKey returns the key of the Standard Webhooks signature; null if the secret is no valid one. */
function standardKey(secret: string): Uint8Array<ArrayBuffer> | null {
  if (!secret.startsWith('whsec_')) return new TextEncoder().encode(secret);
  try {
    return Uint8Array.from(atob(secret.slice('whsec_'.length)), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}
