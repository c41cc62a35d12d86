import { messages } from '@/lib/messages';
import { useServices } from '@/lib/services';
import { useStore } from '@/lib/store';
import { Switch } from '@/ui/choice';
import { Dialog } from '@/ui/dialog';
import { KeyHint } from '@/ui/keyhint';
import { commands } from './commands';
import styles from './help.module.css';

const t = messages({
  title: 'Keys',
  intro: 'Letters do nothing while you type in a field.',
  letters: 'Single-letter keys',
  lettersHelp: 'Off: only keys with Ctrl or Command act.',
});

/** Keys shows every key that acts on this page. */
export function Keys({ onClose }: { onClose: () => void }) {
  const { preferences } = useServices();
  const values = useStore(preferences);
  const all = useStore(commands).filter((c) => c.keys !== undefined);
  return (
    <Dialog open onClose={onClose} title={t('title')} intro={t('intro')} wide>
      <Switch
        label={t('letters')}
        help={t('lettersHelp')}
        checked={values.keys}
        onChange={(keys) => preferences.change({ keys })}
      />
      <dl className={styles.keys}>
        {all.map((command) => (
          <div key={command.id}>
            <dt>{command.label}</dt>
            <dd>
              <KeyHint keys={command.keys ?? ''} />
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
