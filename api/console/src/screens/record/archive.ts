import { describe } from '@/lib/describe';
import { toast } from '@/ui/toast';
import { t } from './messages';

/** archiveWithUndo archives the record called name and offers to restore it. done runs after either. */
export async function archiveWithUndo(
  name: string,
  calls: { archive: () => Promise<unknown>; restore: () => Promise<unknown> },
  done: () => void,
): Promise<boolean> {
  try {
    await calls.archive();
  } catch (error) {
    fail(t('notSaved'), error);
    return false;
  }
  done();
  const undo = () => {
    calls.restore().then(done, (error: unknown) => fail(t('undoFailed'), error));
  };
  toast({ title: t('archived', { name }), onUndo: undo });
  return true;
}

function fail(title: string, error: unknown): void {
  const { detail, request_id } = describe(error) ?? { detail: '', request_id: undefined };
  toast({ kind: 'bad', title, detail, ...(request_id !== undefined && { requestId: request_id }) });
}
