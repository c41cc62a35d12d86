import styles from './keyhint.module.css';

const isMac = typeof navigator !== 'undefined' && /mac|iphone|ipad/i.test(navigator.userAgent);

const names: Record<string, string> = isMac
  ? { mod: '⌘', enter: '↵', shift: '⇧', alt: '⌥', esc: 'Esc', up: '↑', down: '↓' }
  : { mod: 'Ctrl', enter: '↵', shift: 'Shift', alt: 'Alt', esc: 'Esc', up: '↑', down: '↓' };

/** KeyHint shows keys, separated by spaces: "mod k", "g c", "esc". "mod" is Ctrl, or Command on a Mac. */
export function KeyHint({ keys }: { keys: string }) {
  return (
    <span className={styles.keys}>
      {keys.split(' ').map((key, i) => (
        <kbd key={i}>{names[key] ?? key.toUpperCase()}</kbd>
      ))}
    </span>
  );
}
