import styles from './text.module.css';

/** formatMoney writes minor units in a currency: 92000 USD is "$920.00". */
export function formatMoney(minor: number, currency: string, locale = 'en'): string {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency });
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
  return format.format(minor / 10 ** digits);
}

/** Money shows an amount of minor units with tabular figures, so that amounts below each other line up. */
export function Money({ amount, currency }: { amount: number; currency: string }) {
  return <span className={styles.money}>{formatMoney(amount, currency)}</span>;
}
