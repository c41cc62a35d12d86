import type { ReactNode } from 'react';
import { cx } from '@/ui/cx';
import { PageHead } from '@/ui/page';
import styles from './settings.module.css';

/** SettingsPage is a section of the settings: its title and, below each other, one card per subject. */
export function SettingsPage({
  title,
  actions,
  wide,
  children,
}: {
  title: string;
  /** Buttons at the right of the title. */
  actions?: ReactNode;
  /** For pages that compare things beside each other. */
  wide?: boolean;
  children: ReactNode;
}) {
  return (
    <>
      <PageHead title={title}>{actions}</PageHead>
      <div className={cx(styles.cards, wide && styles.wide)}>{children}</div>
    </>
  );
}
