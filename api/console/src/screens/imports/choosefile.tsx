import { useId, useRef, useState } from 'react';
import { Button } from '@/ui/button';
import { Callout } from '@/ui/feedback';
import { Icon } from '@/ui/icon';
import { type Head, readHead } from './csv';
import { t } from './messages';
import styles from './imports.module.css';

const mostBytes = 512 * 1024 * 1024;

/** ChooseFile takes a file by a click, by the keyboard or by dropping it, and reads the head of one that is CSV. */
export function ChooseFile({ onChoose }: { onChoose: (file: File, head: Head | null) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const help = useId();
  const [isTooLarge, setTooLarge] = useState(false);
  const [isOver, setOver] = useState(false);
  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    if (file.size > mostBytes) return setTooLarge(true);
    onChoose(file, await readHead(file).catch(() => null));
  };
  return (
    <>
      {isTooLarge && (
        <Callout tone="bad" title={t('tooLarge')}>
          {t('tooLargeText')}
        </Callout>
      )}
      <div
        className={styles.drop}
        data-over={isOver || undefined}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void take(event.dataTransfer.files[0]);
        }}
      >
        <Icon name="imports" size={20} />
        <div className={styles.dropLine}>
          <Button kind="primary" aria-describedby={help} onClick={() => input.current?.click()}>
            {t('choose')}
          </Button>
          <span className={styles.soft}>{t('drop')}</span>
        </div>
        <p className="meta" id={help}>
          {t('fileHelp')}
        </p>
        <input
          ref={input}
          type="file"
          accept=".csv,.tsv,.txt,.gz,.xlsx,.vcf,text/csv,text/vcard"
          hidden
          aria-label={t('choose')}
          onChange={(event) => {
            void take(event.target.files?.[0]);
            event.target.value = ''; // the same file can be chosen again
          }}
        />
      </div>
    </>
  );
}
