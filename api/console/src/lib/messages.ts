import { formatNumber } from './intl';

/** A text, or one text for each plural form that the language has. The form is chosen by the parameter count. */
export type Message = string | { readonly one: string; readonly other: string };

type ParametersOf<S extends string> = S extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParametersOf<Rest>
  : never;
type NamesOf<M extends Message> = M extends string
  ? ParametersOf<M>
  : 'count' | (M extends { one: infer O extends string; other: infer T extends string } ? ParametersOf<O | T> : never);
type Arguments<M extends Message> = [NamesOf<M>] extends [never] ? [] : [values: Record<NamesOf<M>, string | number>];

export type Translate<D extends Record<string, Message>> = <K extends keyof D & string>(
  key: K,
  ...values: Arguments<D[K]>
) => string;

const plural = new Intl.PluralRules('en');

/**
 * messages returns the texts of a screen by key. Texts are data: {name} stands for a value, and the compiler checks
 * that each use gives the values. Numbers are formatted.
 *
 *     const t = messages({ found: { one: '{count} contact', other: '{count} contacts' } });
 *     t('found', { count: 1200 }); // 1,200 contacts
 */
export function messages<const D extends Record<string, Message>>(texts: D): Translate<D> {
  return (key, ...[values]) => {
    const message: Message = texts[key] ?? '';
    const given: Readonly<Record<string, string | number>> = values ?? {};
    const form = (forms: { one: string; other: string }) =>
      plural.select(Number(given['count'])) === 'one' ? forms.one : forms.other;
    const text = typeof message === 'string' ? message : form(message);
    return text.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = given[name];
      return typeof value === 'number' ? formatNumber(value) : (value ?? '');
    });
  };
}
