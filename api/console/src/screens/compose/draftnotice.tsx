import { Button } from '@/ui/button';
import { Callout } from '@/ui/feedback';
import mail from '../mail/mail.module.css';
import { t } from './messages';

/** DraftNotice says that a person has not read the draft yet. It goes once the text is changed. */
export function DraftNotice({ onKeep, onDrop }: { onKeep: () => void; onDrop: () => void }) {
  return (
    <Callout
      tone="warn"
      title={t('draftTitle')}
      action={
        <span className={mail.buttons}>
          <Button size="small" kind="quiet" onClick={onDrop}>
            {t('dropDraft')}
          </Button>
          <Button size="small" onClick={onKeep}>
            {t('keepDraft')}
          </Button>
        </span>
      }
    >
      {t('draftText')}
    </Callout>
  );
}
