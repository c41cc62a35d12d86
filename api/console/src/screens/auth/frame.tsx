import type { ReactNode } from 'react';
import { brand } from '@/lib/brand';
import styles from './auth.module.css';

/** Frame is a page without navigation: one form in the middle, in the brand of the host. */
export function Frame({
  title,
  intro,
  children,
  foot,
}: {
  title: string;
  intro?: ReactNode;
  children?: ReactNode;
  foot?: ReactNode;
}) {
  return (
    <main className={styles.page} id="main" tabIndex={-1}>
      <div className={styles.card}>
        <p className={styles.brand}>{brand.logo ? <img src={brand.logo} alt={brand.name} /> : brand.name}</p>
        <h1 className={styles.title} tabIndex={-1}>
          {title}
        </h1>
        {intro && <p className={styles.intro}>{intro}</p>}
        {children}
        {foot && <div className={styles.foot}>{foot}</div>}
      </div>
    </main>
  );
}
