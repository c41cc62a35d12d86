import { Tabs as Primitive } from 'radix-ui';
import type { ReactNode } from 'react';
import styles from './tabs.module.css';

export interface Tab<V extends string> {
  value: V;
  label: string;
  count?: number;
  content: ReactNode;
}

/** Tabs are parts of one page. Parts with an address of their own are links in the page's navigation instead. */
export function Tabs<V extends string>({ label, tabs, value, onChange }: {
  label: string;
  tabs: readonly Tab<V>[];
  value: V;
  onChange: (value: V) => void;
}) {
  return (
    <Primitive.Root value={value} onValueChange={(next) => onChange(next as V)}>
      <Primitive.List className={styles.list} aria-label={label}>
        {tabs.map((tab) => (
          <Primitive.Trigger key={tab.value} value={tab.value} className={styles.tab}>
            {tab.label}
            {tab.count !== undefined && <span className={`${styles.count} num`}>{tab.count.toLocaleString('en')}</span>}
          </Primitive.Trigger>
        ))}
      </Primitive.List>
      {tabs.map((tab) => (
        <Primitive.Content key={tab.value} value={tab.value} className={styles.panel}>
          {tab.content}
        </Primitive.Content>
      ))}
    </Primitive.Root>
  );
}
