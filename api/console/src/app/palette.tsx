import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { Command as Cmdk } from 'cmdk';
import { Dialog } from 'radix-ui';
import { useDeferredValue, useEffect, useState, type KeyboardEvent } from 'react';
import { messages } from '@/lib/messages';
import { readOptions } from '@/lib/read';
import { useApi } from '@/lib/services';
import { useStore } from '@/lib/store';
import { Icon, type IconName } from '@/ui/icon';
import { KeyHint } from '@/ui/keyhint';
import { commands } from './commands';
import styles from './palette.module.css';

const t = messages({
  label: 'Search and run a command',
  placeholder: 'Search contacts, companies and deals, or type a command',
  none: 'Nothing found.',
  searching: 'Searching…',
  found: 'Found',
});

/** Where a found record is shown, and with which icon. A kind that is not listed is not offered. */
const kinds: Readonly<Record<string, { path: (id: string) => string; icon: IconName; label: string }>> = {
  contact: { path: (id) => `/app/contacts/${id}`, icon: 'contacts', label: 'Contact' },
  company: { path: (id) => `/app/companies/${id}`, icon: 'companies', label: 'Company' },
  deal: { path: (id) => `/app/deals/${id}`, icon: 'deals', label: 'Deal' },
  segment: { path: (id) => `/app/segments/${id}`, icon: 'segments', label: 'Segment' },
  webhook: { path: (id) => `/app/settings/integrations/webhooks/${id}`, icon: 'webhook', label: 'Webhook' },
};

/** Palette finds records, places and actions by a few letters: Ctrl K, letters, Enter. */
export function Palette({ onClose }: { onClose: () => void }) {
  const router = useRouter();
  const all = useStore(commands).filter((c) => !c.keyOnly);
  const groups = (['Actions', 'Go to', 'Settings'] as const)
    .map((group) => [group, all.filter((c) => (c.group ?? 'Actions') === group)] as const)
    .filter(([, own]) => own.length > 0);
  const [text, setText] = useState('');
  const wanted = useDeferredValue(text.trim());
  const search = useQuery({
    ...readOptions(useApi(), '/api/v1/search', { query: { q: wanted, limit: 8 } }),
    enabled: wanted.length >= 2,
    placeholderData: (previous) => previous,
    retry: false,
  });
  const found = wanted.length >= 2 ? (search.data?.data.data ?? []).filter((r) => kinds[r.kind] !== undefined) : [];
  const act = (run: () => void) => {
    onClose();
    run();
  };
  const open = (record: (typeof found)[number]) =>
    act(() => router.history.push(kinds[record.kind]?.path(record.id) ?? '/app'));
  const first = found[0];
  const [chosen, choose] = useState('');
  useEffect(() => {
    if (first !== undefined) choose(first.id); // cmdk itself chooses only among items that it filters
  }, [first?.id, wanted]);
  // Enter that was pressed before the records were there opens the first of them.
  const [entered, setEntered] = useState<string | null>(null);
  const isCurrent = !search.isFetching && wanted === text.trim();
  useEffect(() => {
    if (entered === null) return;
    if (entered !== text.trim()) setEntered(null);
    else if (isCurrent && first !== undefined) open(first);
  }, [entered, isCurrent, first?.id, text]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing || isCurrent) return;
    const list = event.currentTarget.closest('[cmdk-root]');
    if (list?.querySelector('[cmdk-item][data-selected=true]') === null) setEntered(text.trim());
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <div className={styles.scrim} />
        <div className={styles.place}>
          <Dialog.Content className={styles.palette} aria-describedby={undefined}>
            <Dialog.Title className="visually-hidden">{t('label')}</Dialog.Title>
            <Cmdk label={t('label')} loop value={chosen} onValueChange={choose}>
              <Cmdk.Input
                className={styles.input}
                placeholder={t('placeholder')}
                value={text}
                onValueChange={setText}
                onKeyDown={onKeyDown}
              />
              <Cmdk.List className={styles.list}>
                <Cmdk.Empty className={styles.empty}>{search.isFetching ? t('searching') : t('none')}</Cmdk.Empty>
                {found.length > 0 && (
                  <Cmdk.Group heading={t('found')} className={styles.group} forceMount>
                    {found.map((record) => (
                      <Cmdk.Item
                        key={record.id}
                        value={record.id}
                        keywords={[text]}
                        className={styles.item}
                        forceMount
                        onSelect={() => open(record)}
                      >
                        <Icon name={kinds[record.kind]?.icon ?? 'search'} />
                        <span className={styles.text}>{record.title}</span>
                        <span className={styles.sub}>{record.subtitle}</span>
                        <span className={styles.kind}>{kinds[record.kind]?.label}</span>
                      </Cmdk.Item>
                    ))}
                  </Cmdk.Group>
                )}
                {groups.map(([group, own]) => (
                  <Cmdk.Group key={group} heading={group} className={styles.group}>
                    {own.map((command) => (
                      <Cmdk.Item
                        key={command.id}
                        value={`${command.label} ${command.id}`}
                        keywords={command.words === undefined ? [] : [command.words]}
                        className={styles.item}
                        onSelect={() => act(command.run)}
                      >
                        <Icon name={command.icon ?? 'right'} />
                        <span className={styles.text}>{command.label}</span>
                        {command.keys !== undefined && <KeyHint keys={command.keys} />}
                      </Cmdk.Item>
                    ))}
                  </Cmdk.Group>
                ))}
              </Cmdk.List>
            </Cmdk>
          </Dialog.Content>
        </div>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
