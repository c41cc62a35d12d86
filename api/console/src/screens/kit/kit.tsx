import { useState } from 'react';
import { IconButton } from '@/ui/button';
import { Menu } from '@/ui/menu';
import { PageHead } from '@/ui/page';
import { Toasts } from '@/ui/toast';
import { Actions } from './actions';
import { Display } from './display';
import { Fields } from './fields';
import { Lists } from './lists';
import { Tokens } from './tokens';
import styles from './kit.module.css';

/** Kit shows every part of the design system, in the theme and brand of the page. No screen links to it. */
export function Kit() {
  const [theme, setTheme] = useState(document.documentElement.dataset['theme'] ?? 'system');
  const choose = (next: string) => {
    setTheme(next);
    if (next === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = next;
  };
  return (
    <main className={styles.kit}>
      <PageHead title="Design system" count="36 parts">
        <Menu
          trigger={<IconButton icon={theme === 'dark' ? 'moon' : theme === 'light' ? 'sun' : 'monitor'} label="Theme" />}
          align="end"
          items={['system', 'light', 'dark'].map((name) => ({
            label: name,
            checked: theme === name,
            onSelect: () => choose(name),
          }))}
        />
      </PageHead>
      <div className={styles.content}>
        <Tokens />
        <Actions />
        <Fields />
        <Lists />
        <Display />
      </div>
      <Toasts />
    </main>
  );
}
