import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Failure } from '@/app/failure';
import { useLeave } from '@/app/leave';
import { describe } from '@/lib/describe';
import { invalidate } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { useCommands } from '@/app/commands';
import { Button, IconButton } from '@/ui/button';
import { RadioCards } from '@/ui/choice';
import { Callout, Skeleton } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { PageHead } from '@/ui/page';
import { toast } from '@/ui/toast';
import { Builder } from './builder';
import { type Fields, useFields } from './fields';
import { t } from './messages';
import { Preview } from './preview';
import { useFilter } from './usefilter';
import styles from './segments.module.css';

/** NewSegment is the page that makes a segment: by conditions with a live count, or static and empty. */
export function NewSegment() {
  const navigate = useNavigate();
  const fields = useFields();
  const may = useMay('member');
  const { org, role } = useScope();
  const back = () => void navigate({ to: '/app/segments' });
  useCommands([{ id: 'segment.back', label: t('back'), keys: 'esc', keyOnly: true, run: back }]);
  return (
    <div className={styles.page}>
      <PageHead
        title={t('newSegment')}
        before={<IconButton icon="left" label={t('back')} keys="esc" onClick={back} />}
      />
      {!may ? (
        <div className={styles.side}>
          <Callout>{t('readonly', { org: org.name, role })}</Callout>
        </div>
      ) : fields.error !== null && fields.pending ? (
        <Failure error={fields.error} again={fields.again} />
      ) : fields.pending ? (
        <div className={styles.side}>
          <Skeleton width="60%" />
        </div>
      ) : (
        <NewForm fields={fields} />
      )}
    </div>
  );
}

type Kind = 'dynamic' | 'static';

function NewForm({ fields }: { fields: Fields }) {
  const api = useApi();
  const scope = useScope();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [kind, setKind] = useState<Kind>('dynamic');
  const [asked, setAsked] = useState(false);
  const draft = useFilter(null, fields);
  const leave = useLeave(name.trim() !== '' || draft.isChanged);
  const create = useSubmit(
    (body: { name: string; kind: Kind; filter?: unknown }, idempotencyKey) =>
      api.post('/api/v1/crm/segments', { body, idempotencyKey }),
    ({ data }) => {
      invalidate(scope, '/api/v1/crm/segments');
      toast({ title: t('createdToast') });
      void navigate({ to: '/app/segments/$id', params: { id: data.id }, replace: true, ignoreBlocker: true });
    },
  );
  const submit = () => {
    setAsked(true);
    if (kind === 'static') void create.submit({ name: name.trim(), kind });
    else if (draft.filter !== undefined) void create.submit({ name: name.trim(), kind, filter: draft.filter });
  };
  return (
    <div className={styles.columns}>
      <Form className={styles.form} problem={describe(create.error)} onSubmit={submit}>
        <Field label={t('name')} pointer="/name" help={t('nameHelp')}>
          <Input autoFocus autoComplete="off" maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <RadioCards<Kind>
          label={t('how')}
          value={kind}
          onChange={setKind}
          options={[
            { value: 'dynamic', label: t('dynamic'), help: t('dynamicHelp') },
            { value: 'static', label: t('static'), help: t('staticHelp') },
          ]}
        />
        {kind === 'dynamic' && (
          <section className={styles.conditions} aria-label={t('conditions')}>
            <h2 className={styles.label}>{t('conditions')}</h2>
            <Builder
              group={draft.group}
              fields={fields}
              onChange={draft.change}
              errorOf={(id) => draft.errorOf(id, create.error, asked)}
            />
          </section>
        )}
        <div>
          <Button kind="primary" type="submit" busy={create.busy} disabled={name.trim() === ''}>
            {t('createSegment')}
          </Button>
        </div>
      </Form>
      {kind === 'dynamic' ? (
        <Preview title={t('previewNow')} filter={draft.filter === undefined ? undefined : draft.text} />
      ) : (
        <section className={styles.preview}>
          <p className={styles.soft}>{t('staticText')}</p>
        </section>
      )}
      {leave}
    </div>
  );
}
