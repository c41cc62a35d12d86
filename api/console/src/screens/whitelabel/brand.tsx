import { type CSSProperties, useState } from 'react';
import { Failure } from '@/app/failure';
import { SettingsPage } from '@/app/settingspage';
import type { Answer } from '@/lib/api';
import { describe } from '@/lib/describe';
import type { Options, Result } from '@/lib/operations';
import { isPlanNeeded } from '@/lib/planneeded';
import { invalidate, useRead } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button, buttonLook } from '@/ui/button';
import { Switch } from '@/ui/choice';
import { Callout, Skeleton } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Card } from '@/ui/page';
import { toast } from '@/ui/toast';
import { GoLink } from '../record/golink';
import { ColourField } from './colourfield';
import { contrast, needed, onColour, parseColour } from './contrast';
import { Logo } from './logo';
import { t } from './messages';
import styles from './whitelabel.module.css';

export type Settings = Result<'get', '/white-label'>;
type Colours = Settings['colors'];
type Change = Options<'patch', '/white-label'>['body'];

const colourNames = ['primary', 'accent', 'background', 'text'] as const;

/** BrandPage edits the brand beside a live preview. */
export function BrandPage() {
  const read = useRead('/white-label');
  return (
    <SettingsPage title={t('brand')} wide>
      {read.answer !== undefined ? (
        <Editor answer={read.answer} />
      ) : read.error === null ? (
        <Card title={t('colours')}>
          <Skeleton width="60%" />
        </Card>
      ) : (
        <Failure error={read.error} again={read.again} />
      )}
    </SettingsPage>
  );
}

function Editor({ answer }: { answer: Answer<Settings> }) {
  const settings = answer.data;
  const api = useApi();
  const scope = useScope();
  const [name, setName] = useState<string | null>(null);
  const [support, setSupport] = useState<string | null>(null);
  const [hide, setHide] = useState<boolean | null>(null);
  const [own, setOwn] = useState<Partial<Colours>>({});
  const colours: Colours = { ...settings.colors, ...own };
  const revert = () => {
    setName(null);
    setSupport(null);
    setHide(null);
    setOwn({});
  };
  const save = useSubmit(
    (body: Change, idempotencyKey) => api.patch('/white-label', { body, ifMatch: answer.etag, idempotencyKey }),
    () => {
      invalidate(scope, '/white-label');
      toast({ title: t('saved') });
      revert();
    },
  );
  const changed = Object.fromEntries(
    colourNames.filter((one) => colours[one] !== settings.colors[one]).map((one) => [one, colours[one].trim()]),
  );
  const change: Change = {
    ...(name !== null && name.trim() !== (settings.brand_name ?? '') && { brand_name: name.trim() || null }),
    ...(support !== null &&
      support.trim() !== (settings.support_email ?? '') && { support_email: support.trim() || null }),
    ...(hide !== null && hide !== settings.hide_brand && { hide_brand: hide }),
    ...(Object.keys(changed).length > 0 && { colors: changed }),
  };
  const isChanged = Object.keys(change).length > 0;
  return (
    <>
      <NotShown settings={settings} />
      <div className={styles.columns}>
        <div className={styles.stack}>
          <Form className={styles.stack} problem={isPlanNeeded(save.error) ? null : describe(save.error)} onSubmit={() => isChanged && void save.submit(change)}>
            <Card title={t('identity')}>
              <div className={styles.fields}>
                <Field label={t('name')} pointer="/brand_name" help={t('nameHelp')}>
                  <Input
                    autoComplete="off"
                    maxLength={80}
                    value={name ?? settings.brand_name ?? ''}
                    onChange={(event) => setName(event.target.value)}
                  />
                </Field>
                <Field label={t('support')} pointer="/support_email" help={t('supportHelp')} optional>
                  <Input
                    type="email"
                    autoComplete="off"
                    value={support ?? settings.support_email ?? ''}
                    onChange={(event) => setSupport(event.target.value)}
                  />
                </Field>
                <Switch
                  label={t('hide')}
                  help={t('hideHelp')}
                  checked={hide ?? settings.hide_brand}
                  onChange={setHide}
                />
              </div>
            </Card>
            <Card title={t('colours')}>
              <div className={styles.fields}>
                <p className={styles.soft}>{t('coloursText')}</p>
                {colourNames.map((one) => (
                  <ColourField
                    key={one}
                    label={t(one)}
                    pointer={`/colors/${one}`}
                    value={colours[one]}
                    onChange={(value) => setOwn((old) => ({ ...old, [one]: value }))}
                    {...(one !== 'background' && { against: colours.background, needed: needed[one] })}
                  />
                ))}
              </div>
            </Card>
            {(isChanged || save.busy) && (
              <div className={styles.buttons}>
                <Button kind="primary" type="submit" busy={save.busy} disabled={!areReadable(colours)}>
                  {t('save')}
                </Button>
                <Button
                  onClick={() => {
                    revert();
                    save.reset();
                  }}
                >
                  {t('revert')}
                </Button>
              </div>
            )}
          </Form>
          <Logo settings={settings} />
        </div>
        <Preview
          colours={colours}
          name={name ?? settings.brand_name ?? ''}
          logo={settings.logo}
          hides={hide ?? settings.hide_brand}
        />
      </div>
    </>
  );
}

/** areReadable reports whether the server takes the colours. */
function areReadable(colours: Colours): boolean {
  if (colourNames.some((one) => parseColour(colours[one]) === null)) return false;
  return (['primary', 'accent', 'text'] as const).every(
    (one) => (contrast(colours[one], colours.background) ?? 0) >= needed[one],
  );
}

function NotShown({ settings }: { settings: Settings }) {
  const { org } = useScope();
  const isOwner = useMay('owner', 'billing');
  if (settings.effective.white_label) return null;
  return (
    <Callout
      tone="warn"
      title={t('notShown')}
      {...(isOwner && {
        action: (
          <GoLink href="/app/settings/billing" className={buttonLook({ size: 'small' })}>
            {t('plans')}
          </GoLink>
        ),
      })}
    >
      {t('notShownText')} {!isOwner && t('ask', { org: org.name })}
    </Callout>
  );
}

/** Preview is a sign-in page in the colours. While a colour is not complete, the last one is kept by CSS. */
function Preview({ colours, name, logo, hides }: {
  colours: Colours;
  name: string;
  logo: Settings['logo'];
  hides: boolean;
}) {
  const { org } = useScope();
  const vars: Record<string, string> = {
    '--preview-primary': colours.primary,
    '--preview-on-primary': onColour(colours.primary),
    '--preview-accent': colours.accent,
    '--preview-background': colours.background,
    '--preview-text': colours.text,
  };
  const isReadable = areReadable(colours);
  return (
    <section className={styles.previewBox} aria-label={t('preview')}>
      <h2 className={styles.label}>{t('preview')}</h2>
      <div
        className={styles.preview}
        style={isReadable ? (vars as CSSProperties) : undefined}
        data-off={!isReadable || undefined}
        aria-hidden={!isReadable || undefined}
      >
        {logo === null ? (
          <strong>{name.trim() || org.name}</strong>
        ) : (
          <img className={styles.logo} src={new URL(logo.url, location.href).pathname} alt={t('logoAlt')} />
        )}
        <p>{t('previewText')}</p>
        <span className={styles.previewButton}>{t('signIn')}</span>
        <span className={styles.previewLink}>{t('previewLink')}</span>
        {!hides && <span className={styles.powered}>{t('poweredBy')}</span>}
      </div>
    </section>
  );
}
