import type { CSSProperties } from 'react';
import { cx } from './cx';
import styles from './avatar.module.css';

/** Avatar shows initials on a colour that follows from the name. No picture is loaded from anywhere. */
export function Avatar({ name, size = 'small', square }: {
  name: string;
  size?: 'small' | 'medium' | 'large';
  /** For an organization or company. */
  square?: boolean;
}) {
  return (
    <span
      className={cx(styles.avatar, styles[size], square && styles.square)}
      style={{ '--hue': hue(name) } as CSSProperties}
      aria-hidden="true"
    >
      {initials(name)}
    </span>
  );
}

/** initials returns the first letters of the first and the last word, in upper case; of wide letters, one. */
export function initials(name: string): string {
  const words = name.trim().split(/[\s@._-]+/).filter(Boolean);
  if (/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(words[0] ?? '')) {
    return [...name.trim()][0] ?? '';
  }
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => (word ? [...word][0] : ''));
  return letters.join('').toLocaleUpperCase('en') || '?';
}

function hue(name: string): number {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 3600;
  return (sum % 12) * 30;
}
