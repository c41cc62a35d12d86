import { useRef } from 'react';
import { describe } from '@/lib/describe';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Callout } from '@/ui/feedback';
import { Card } from '@/ui/page';
import { toast } from '@/ui/toast';
import { isPlanNeeded } from '@/lib/planneeded';
import type { Settings } from './brand';
import { t } from './messages';
import styles from './whitelabel.module.css';

const mostBytes = 1024 * 1024;

/** Logo shows the logo, and takes another one. */
export function Logo({ settings }: { settings: Settings }) {
  const api = useApi();
  const scope = useScope();
  const input = useRef<HTMLInputElement>(null);
  const done = (title: string) => {
    invalidate(scope, '/white-label');
    toast({ title });
  };
  const upload = useSubmit(
    (file: File) => api.put('/white-label/logo', { body: file }),
    () => done(t('logoSaved')),
  );
  const remove = useSubmit(
    (_: null) => api.delete('/white-label/logo'),
    () => done(t('logoRemoved')),
  );
  const take = (file: File | undefined) => {
    if (file === undefined) return;
    if (file.size > mostBytes) toast({ kind: 'bad', title: t('notSaved'), detail: t('tooLarge') });
    else void upload.submit(file);
  };
  const error = upload.error ?? remove.error;
  const { logo } = settings;
  return (
    <Card
      title={t('logo')}
      foot={
        <>
          {logo !== null && (
            <Button size="small" busy={remove.busy} onClick={() => void remove.submit(null)}>
              {t('remove')}
            </Button>
          )}
          <Button size="small" busy={upload.busy} onClick={() => input.current?.click()}>
            {logo === null ? t('upload') : t('replace')}
          </Button>
        </>
      }
    >
      <div className={styles.fields}>
        {error !== null && !isPlanNeeded(error) && <Callout tone="bad">{describe(error)?.detail}</Callout>}
        {logo === null ? (
          <p className={styles.soft}>{t('noLogo')}</p>
        ) : (
          <p className={styles.logoLine}>
            <img className={styles.logo} src={new URL(logo.url, location.href).pathname} alt={t('logoAlt')} />
            <span className="meta num">{t('size', { width: logo.width, height: logo.height })}</span>
          </p>
        )}
        <p className="meta">{t('logoHelp')}</p>
        <input
          ref={input}
          type="file"
          accept="image/png,image/jpeg,image/webp,image/svg+xml"
          hidden
          aria-label={t('upload')}
          onChange={(event) => {
            take(event.target.files?.[0]);
            event.target.value = '';
          }}
        />
      </div>
    </Card>
  );
}
