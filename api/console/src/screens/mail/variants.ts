import { randomId } from '@/lib/random';

/** The parts of a mail as they are edited. */
export interface Parts {
  subject: string;
  text: string;
  html: string;
}

export interface Variant extends Parts {
  key: string;
  weight: number;
  stopped_at?: string;
}

/** A mail, and the versions of it that are compared: none, or two and more. */
export interface Versions extends Parts {
  variants: Variant[];
}

export const mostVariants = 5;

/** addVariant returns the mail with one more variant; the first time with two, A being the mail as it is. */
export function addVariant<M extends Versions>(mail: M): M {
  const taken = new Set(mail.variants.map((one) => one.key));
  const make = (): Variant => {
    const key = [...'abcdefghij'].find((free) => !taken.has(free)) ?? randomId().slice(0, 6);
    taken.add(key);
    return { key, subject: mail.subject, text: mail.text, html: '', weight: 1 };
  };
  return { ...mail, variants: mail.variants.length === 0 ? [make(), make()] : [...mail.variants, make()] };
}

/** removeVariant returns the mail without a variant. Of two, the other one becomes the mail. */
export function removeVariant<M extends Versions>(mail: M, key: string): M {
  const rest = mail.variants.filter((one) => one.key !== key);
  const [last] = rest;
  if (rest.length > 1 || last === undefined) return { ...mail, variants: rest };
  return { ...mail, variants: [], ...partsOf(mail, last) };
}

export function changeVariant<M extends Versions>(mail: M, key: string, change: Partial<Variant>): M {
  return { ...mail, variants: mail.variants.map((one) => (one.key === key ? { ...one, ...change } : one)) };
}

/** partsOf returns the parts of a variant: what it does not replace is that of the mail. */
export function partsOf(mail: Parts, variant: Parts): Parts {
  return {
    subject: variant.subject || mail.subject,
    text: variant.text || mail.text,
    html: variant.html || mail.html,
  };
}

/** variantsToInput returns variants as a request has them: what is empty is left out. */
export function variantsToInput(variants: readonly Variant[]) {
  return variants.map((one) => ({
    key: one.key,
    weight: one.weight,
    ...(one.html !== '' && { html: one.html }),
    ...(one.subject !== '' && { subject: one.subject }),
    ...(one.text !== '' && { text: one.text }),
  }));
}
