import { useRef, useState } from 'react';
import { randomId } from '@/lib/random';
import { Button, IconButton } from '@/ui/button';
import { useFieldError } from '@/ui/form';
import { Icon } from '@/ui/icon';
import { toast } from '@/ui/toast';
import { formatSize } from '../mail/size';
import { choose, readFile, sumOf, type Attachment, type Refusal } from './attachments';
import { t } from './messages';
import styles from './compose.module.css';

/** useFiles keeps the files of a mail. */
export function useFiles() {
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const [reading, setReading] = useState(0);
  const latest = useRef(files);
  const set = (next: readonly Attachment[]) => {
    latest.current = next;
    setFiles(next);
  };
  const add = async (given: readonly File[]) => {
    const { taken, refused } = choose(latest.current, given);
    refused.forEach(tellRefusal);
    setReading((count) => count + 1);
    for (const file of taken) {
      try {
        const read = await readFile(file, randomId());
        if (choose(latest.current, [read]).taken.length > 0) set([...latest.current, read]);
      } catch {
        tellRefusal({ name: file.name, reason: 'unreadable' });
      }
    }
    setReading((count) => count - 1);
  };
  return {
    files,
    reading: reading > 0,
    add: (given: readonly File[]) => void add(given),
    remove: (id: string) => set(latest.current.filter((one) => one.id !== id)),
    clear: () => set([]),
  };
}

function tellRefusal({ name, reason }: Refusal): void {
  toast({ kind: 'bad', title: reason === 'tooMany' ? t('tooMany') : t(reason, { name }) });
}

/** AttachButton opens the choice of files. */
export function AttachButton({ onFiles }: { onFiles: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button size="small" kind="quiet" onClick={() => input.current?.click()}>
        {t('attach')}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t('attach')}
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = ''; // the same file may be chosen again
        }}
      />
    </>
  );
}

/** FileList lists the files of a mail. */
export function FileList({ files, onRemove }: { files: readonly Attachment[]; onRemove: (id: string) => void }) {
  const error = useFieldError('/attachments');
  if (files.length === 0) return null;
  return (
    <div className={styles.files}>
      <ul aria-label={t('attached')}>
        {files.map(({ id, name, size }) => (
          <li key={id}>
            <Icon name="note" size={14} />
            <span className={styles.fileName}>{name}</span>
            <span className="meta">{formatSize(size)}</span>
            <IconButton icon="close" label={t('remove', { name })} onClick={() => onRemove(id)} />
          </li>
        ))}
      </ul>
      <p className="meta">{t('total', { size: formatSize(sumOf(files)) })}</p>
      {error?.detail !== undefined && (
        <p className={styles.wrong} id={error.id}>
          {error.detail}
        </p>
      )}
    </div>
  );
}
