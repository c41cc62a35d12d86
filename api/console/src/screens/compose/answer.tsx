import { Composer, type ComposerProps } from './composer';
import { useDiscard } from './discard';

/** Answer writes an answer in its conversation. */
export function Answer({ to, answers, focus, onClose }: {
  to: ComposerProps['to'];
  answers: NonNullable<ComposerProps['answers']>;
  focus: number;
  onClose: () => void;
}) {
  const { setDirty, ask, dialog } = useDiscard(onClose);
  return (
    <>
      <Composer to={to} answers={answers} focus={focus} onDone={onClose} onDiscard={ask} onDirty={setDirty} />
      {dialog}
    </>
  );
}
