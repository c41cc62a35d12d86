import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useCommands } from '@/app/commands';
import { useMay, useScope } from '@/lib/scope';
import { IconButton } from '@/ui/button';
import { Callout } from '@/ui/feedback';
import { PageHead } from '@/ui/page';
import { Check } from './check';
import { ChooseFile } from './choosefile';
import { Columns } from './columns';
import type { Head } from './csv';
import { guessAll, type Target } from './mapping';
import { t } from './messages';
import styles from './imports.module.css';

interface Chosen {
  file: File;
  head: Head | null; // null: the service matches the columns
}

/** NewImport leads from a file over its columns to a check of all rows, and then imports it. */
export function NewImport() {
  const navigate = useNavigate();
  const may = useMay('member');
  const { org, role } = useScope();
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [mapping, setMapping] = useState<ReadonlyMap<string, Target>>(new Map());
  const [isChecking, setChecking] = useState(false);
  const back = () => void navigate({ to: '/app/imports' });
  useCommands([{ id: 'import.back', label: t('back'), keys: 'esc', keyOnly: true, run: back }]);
  const choose = (file: File, head: Head | null) => {
    setChosen({ file, head });
    setMapping(head === null ? new Map() : guessAll(head.columns));
    setChecking(head === null);
  };
  const step = chosen === null ? 0 : isChecking ? 2 : 1;
  return (
    <div className={styles.page}>
      <PageHead
        title={t('newImport')}
        before={<IconButton icon="left" label={t('back')} keys="esc" onClick={back} />}
      />
      <div className={styles.body}>
        {!may ? (
          <Callout>{t('readonly', { org: org.name, role })}</Callout>
        ) : (
          <>
            <Steps at={step} />
            {chosen === null ? (
              <ChooseFile onChoose={choose} />
            ) : isChecking || chosen.head === null ? (
              <Check
                file={chosen.file}
                mapping={mapping}
                onChange={() => (chosen.head === null ? setChosen(null) : setChecking(false))}
              />
            ) : (
              <Columns
                file={chosen.file}
                head={chosen.head}
                mapping={mapping}
                onChange={setMapping}
                onOther={() => setChosen(null)}
                onDone={() => setChecking(true)}
              />
            )}
          </>
        )}
      </div>
    </div>
  );
}

const steps = [t('stepFile'), t('stepColumns'), t('stepCheck')] as const;

function Steps({ at }: { at: number }) {
  return (
    <ol className={styles.steps}>
      {steps.map((step, i) => (
        <li key={step} aria-current={i === at ? 'step' : undefined} data-done={i < at || undefined}>
          <span className={styles.number}>{i + 1}</span>
          {step}
        </li>
      ))}
    </ol>
  );
}
