import type { MenuEntry } from '@/ui/menu';
import type { Deal, Pipeline } from './board';
import { t } from './messages';

/** dealMenu returns the actions on a deal: the stages it can be moved to, and archiving it. */
export function dealMenu(
  deal: Deal,
  pipeline: Pipeline,
  act: { move: (stageId: string) => void; archive: () => void },
): MenuEntry[] {
  return [
    t('moveTo'),
    ...pipeline.stages.map((stage) => ({
      label: stage.name,
      checked: stage.id === deal.stage_id,
      onSelect: () => {
        if (stage.id !== deal.stage_id) act.move(stage.id);
      },
    })),
    null,
    { label: t('archive'), icon: 'archive', danger: true, onSelect: act.archive },
  ];
}
