import { createContext, useContext, type ReactNode } from 'react';
import styles from './page.module.css';

/** HeadEnd holds what stands at the end of every PageHead, such as the button of the guide. */
export const HeadEnd = createContext<ReactNode>(null);

/** PageHead is the first line of a page: title, count, and at the right one primary button after the others. */
export function PageHead({ title, count, before, children }: {
  title: ReactNode;
  /** How many things the page lists, formatted. */
  count?: ReactNode;
  /** A back button or an avatar. */
  before?: ReactNode;
  children?: ReactNode;
}) {
  const end = useContext(HeadEnd);
  return (
    <header className={styles.head}>
      {before}
      <h1 className={styles.title} tabIndex={-1}>
        {title}
      </h1>
      {count !== undefined && <span className={styles.count}>{count}</span>}
      <span className={styles.grow} />
      {children}
      {end}
    </header>
  );
}

/** Card holds one subject of a settings page. Cards do not stand in cards. */
export function Card({ title, actions, children, foot }: {
  title?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
  /** The save button and a sentence. */
  foot?: ReactNode;
}) {
  return (
    <section className={styles.card}>
      {title !== undefined && (
        <div className={styles.cardHead}>
          <h2 className={styles.cardTitle}>{title}</h2>
          {actions}
        </div>
      )}
      {children !== undefined && <div className={styles.cardBody}>{children}</div>}
      {foot !== undefined && <div className={styles.cardFoot}>{foot}</div>}
    </section>
  );
}

/** Facts is a list of names and values. */
export function Facts({ facts }: { facts: readonly (readonly [name: ReactNode, value: ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value], i) => (
        <div key={i} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
