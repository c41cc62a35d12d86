import { messages } from '@/lib/messages';
import { RadioCards } from '@/ui/choice';
import { Field, Input } from '@/ui/field';
import styles from './webhooks.module.css';

const t = messages({
  secret: 'Signing secret',
  made: 'Generate one',
  madeHelp: 'We make a strong secret and show it once.',
  own: 'Use your own',
  ownHelp: '16 to 128 characters, as your endpoint has it.',
  yours: 'Your secret',
  yoursHelp: 'If it begins with whsec_, the rest is base64 of 24 to 64 bytes.',
});

export interface SecretChoice {
  own: boolean;
  text: string;
}

export const generated: SecretChoice = { own: false, text: '' };

/** SecretField chooses between a secret that the service makes and one's own. */
export function SecretField({ value, onChange }: { value: SecretChoice; onChange: (next: SecretChoice) => void }) {
  return (
    <>
      <div className={styles.block}>
        <h3 className={styles.label}>{t('secret')}</h3>
        <RadioCards<'made' | 'own'>
          label={t('secret')}
          value={value.own ? 'own' : 'made'}
          onChange={(next) => onChange({ own: next === 'own', text: '' })}
          options={[
            { value: 'made', label: t('made'), help: t('madeHelp') },
            { value: 'own', label: t('own'), help: t('ownHelp') },
          ]}
        />
      </div>
      {value.own && (
        <Field label={t('yours')} pointer="/secret" help={t('yoursHelp')}>
          <Input
            mono
            autoComplete="off"
            spellCheck={false}
            value={value.text}
            onChange={(event) => onChange({ own: true, text: event.target.value })}
          />
        </Field>
      )}
    </>
  );
}
