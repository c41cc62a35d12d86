import { Icon, type IconName } from '@/ui/icon';
import styles from './kit.module.css';

const colours = [
  ...Array.from({ length: 12 }, (_, i) => `n${i + 1}`),
  ...['accent', 'accent-soft', 'good', 'warn', 'bad', 'busy', 'off', 'good-soft', 'warn-soft', 'bad-soft', 'busy-soft'],
];

const sizes = [
  ['figure', 'var(--semibold)', '4,218'],
  ['title', 'var(--semibold)', 'Northwind Traders'],
  ['section', 'var(--semibold)', 'Signing secret'],
  ['body', 'var(--regular)', 'A webhook gets every event that you subscribe to, signed, and again until it answers.'],
  ['dense', 'var(--regular)', 'ada@example.com · Lead · added 12 Mar 2026'],
  ['meta', 'var(--regular)', 'From 1,204 won and lost deals'],
] as const;

const icons: IconName[] = [
  'home', 'contacts', 'companies', 'deals', 'tasks', 'inbox', 'sequences', 'broadcasts', 'templates', 'segments', 'imports',
  'exports', 'accounts', 'settings', 'webhook', 'key', 'billing', 'events', 'search', 'filter', 'sort', 'columns', 'copy',
  'edit', 'trash', 'archive', 'external', 'refresh', 'undo', 'mail', 'phone', 'note', 'calendar', 'tag', 'building', 'user',
  'signout', 'lock', 'sun', 'moon', 'monitor', 'info', 'warning', 'error', 'clock', 'play', 'pause', 'spark', 'grip',
  'sidebar', 'menu', 'eye', 'help', 'bolt', 'plus', 'close', 'check', 'minus', 'more', 'selector',
];

export function Tokens() {
  return (
    <section className={styles.part}>
      <h2>Type, colour, icons</h2>
      <div className={styles.type}>
        {sizes.map(([name, weight, text]) => (
          <div key={name} style={{ display: 'contents' }}>
            <span className="meta">{name}</span>
            <span
              style={{ fontSize: `var(--text-${name})`, lineHeight: `var(--leading-${name})`, fontWeight: weight }}
              className="num"
            >
              {text}
            </span>
          </div>
        ))}
      </div>
      <div className={styles.row}>
        {colours.map((name) => (
          <div key={name} className={styles.swatch}>
            <span style={{ background: `var(--${name})` }} />
            {name}
          </div>
        ))}
      </div>
      <div className={styles.row}>
        {icons.map((name) => (
          <Icon key={name} name={name} />
        ))}
      </div>
    </section>
  );
}
