import { useParams } from '@tanstack/react-router';
import { Fragment, useId, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react';
import { Failure } from '@/app/failure';
import { useMay } from '@/lib/scope';
import { Button } from '@/ui/button';
import { cx } from '@/ui/cx';
import { Skeleton } from '@/ui/feedback';
import { formatMoney } from '@/ui/money';
import { Select } from '@/ui/select';
import { toast } from '@/ui/toast';
import type { Members } from '../record/directory';
import { dealOf, moveDeal, nearest, placeOf, step, type Board, type Deal, type Pipeline, type Place, type Stage } from './board';
import { Card, CardFoot, CardSubject } from './card';
import { useDrag } from './drag';
import { Lose } from './lose';
import { dealMenu } from './menu';
import { t } from './messages';
import { useBoard, type BoardState } from './useboard';
import { useArchiveDeal } from './write';
import styles from './deals.module.css';

/** BoardView is the board of a pipeline: a column for each stage. */
export function BoardView({ pipeline, members }: { pipeline: Pipeline; members: Members }) {
  const state = useBoard(pipeline.id);
  if (state.board === undefined) {
    if (state.error !== null) return <Failure error={state.error} again={state.again} />;
    return <BoardSkeleton pipeline={pipeline} />;
  }
  return <Columns pipeline={pipeline} state={state} board={state.board} members={members} />;
}

function Columns({ pipeline, state, board: stored, members }: {
  pipeline: Pipeline;
  state: BoardState;
  board: Board;
  members: Members;
}) {
  const may = useMay('member');
  const archive = useArchiveDeal();
  const { id: current } = useParams({ strict: false });
  const root = useRef<HTMLDivElement>(null);
  const hint = useId();
  const [shown, setShown] = useState(pipeline.stages[0]?.id ?? '');
  const [active, setActive] = useState<string | null>(null);
  const [menuOf, setMenuOf] = useState<string | null>(null);
  const [carried, setCarried] = useState<{ id: string; from: Place; to: Place } | null>(null);
  // A carried deal is shown where it would be dropped, also when the board is read again meanwhile.
  const board = carried === null ? stored : moveDeal(stored, carried.id, carried.to);
  const [losing, setLosing] = useState<{ deal: Deal; from: Place; to: Place } | null>(null);
  const [said, setSaid] = useState('');
  const stageOf = (id: string) => pipeline.stages.find((stage) => stage.id === id);
  const reachable = active !== null && placeOf(board, active) !== null ? active : firstOf(board);

  const move = async (deal: Deal, from: Place, to: Place, extra?: { lost_reason?: string }) => {
    if (!(await state.move(deal.id, to, extra)) || from.stageId === to.stageId) return;
    const stage = stageOf(to.stageId);
    const title =
      stage?.kind === 'won'
        ? t('wonToast', { name: deal.name })
        : stage?.kind === 'lost'
          ? t('lostToast', { name: deal.name })
          : t('movedToast', { name: deal.name, stage: stage?.name ?? '' });
    toast({ title, onUndo: () => void state.move(deal.id, from) });
  };
  // A deal that is lost is asked for the reason first.
  const wish = (id: string, to: Place) => {
    const deal = dealOf(board, id);
    const from = placeOf(board, id);
    if (deal === undefined || from === null) return;
    if (from.stageId !== to.stageId && stageOf(to.stageId)?.kind === 'lost') setLosing({ deal, from, to });
    else void move(deal, from, to);
  };
  const { drag, begin } = useDrag(root, wish);
  const describePlace = (place: Place, of: Board) => {
    const count = of.stages.find((stage) => stage.stage_id === place.stageId)?.count ?? 0;
    return t('place', { at: place.index + 1, of: count, stage: stageOf(place.stageId)?.name ?? '' });
  };
  const focus = (id: string) => {
    setActive(id);
    requestAnimationFrame(() => root.current?.querySelector<HTMLElement>(`[data-deal="${id}"] a`)?.focus());
  };
  // A card that had the focus is another element in another column, so it gets the focus anew, before the next key.
  const at = active === null ? null : placeOf(board, active);
  useLayoutEffect(() => {
    if (active === null || document.activeElement !== document.body) return;
    root.current?.querySelector<HTMLElement>(`[data-deal="${active}"] a`)?.focus();
  }, [active, at?.stageId]);

  const carry = (event: KeyboardEvent, deal: Deal, place: Place, from: Place) => {
    if (event.key.startsWith('Arrow')) {
      event.preventDefault();
      const to = step(board, place, event.key);
      if (to === null) return;
      setCarried({ id: deal.id, from, to });
      setShown(to.stageId);
      setSaid(describePlace(to, moveDeal(board, deal.id, to)));
    } else if (event.key === ' ' || event.key === 'Enter') {
      event.preventDefault();
      setCarried(null);
      setSaid(t('dropped', { name: deal.name, place: describePlace(place, board) }));
      const lost = place.stageId !== from.stageId && stageOf(place.stageId)?.kind === 'lost';
      if (lost) setLosing({ deal, from, to: place });
      else void move(deal, from, place);
    } else if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      putBack(deal, from);
    }
  };
  const putBack = (deal: Deal, from: Place) => {
    setCarried(null);
    setSaid(t('putBack', { name: deal.name, place: describePlace(from, moveDeal(board, deal.id, from)) }));
  };
  const onKeyDown = (event: KeyboardEvent, deal: Deal) => {
    const place = placeOf(board, deal.id);
    if (place === null || event.ctrlKey || event.metaKey || event.altKey) return;
    if (carried?.id === deal.id) return carry(event, deal, place, carried.from);
    if (event.key === ' ' && may) {
      event.preventDefault();
      setCarried({ id: deal.id, from: place, to: place });
      setSaid(t('picked', { name: deal.name, place: describePlace(place, board) }));
    } else if (event.key === '.' && may) {
      event.preventDefault();
      setMenuOf(deal.id);
    } else if (event.key.startsWith('Arrow')) {
      event.preventDefault();
      const next = nearest(board, place, event.key);
      if (next !== null) focus(next);
    }
  };
  const menu = (deal: Deal) =>
    !may
      ? []
      : dealMenu(deal, pipeline, {
          move: (stageId) => wish(deal.id, { stageId, index: 0 }),
          archive: () => {
            state.remove(deal.id);
            archive(deal);
          },
        });
  const over = drag?.over ?? null;
  const dragged = drag === null ? undefined : dealOf(board, drag.id);
  return (
    <>
      <div className={styles.stagePick}>
        <Select
          label={t('showStage')}
          options={pipeline.stages.map((stage) => ({
            value: stage.id,
            label: stage.name,
            hint: (board.stages.find((one) => one.stage_id === stage.id)?.count ?? 0).toLocaleString('en'),
          }))}
          value={shown}
          onChange={setShown}
        />
      </div>
      <div
        className={cx(styles.board, drag !== null && styles.dragging)}
        ref={root}
        role="region"
        aria-label={t('boardOf')}
        tabIndex={0}
      >
        {board.stages.map((column) => {
          const stage = stageOf(column.stage_id);
          if (stage === undefined) return null;
          const others = column.deals.filter((deal) => deal.id !== drag?.id);
          const here = over?.stageId === stage.id;
          return (
            <section
              key={stage.id}
              className={cx(styles.column, here && styles.target)}
              data-stage={stage.id}
              data-shown={stage.id === shown || undefined}
              aria-label={stage.name}
            >
              <ColumnHead stage={stage} count={column.count} sums={column.sums} />
              <div className={styles.cards} data-scroll tabIndex={-1}>
                {column.deals.length === 0 && !here && <p className={styles.emptyColumn}>{t('noDeals')}</p>}
                <ul>
                  {column.deals.map((deal) => (
                    <Fragment key={deal.id}>
                      {here && others[over.index]?.id === deal.id && <li className={styles.drop} aria-hidden="true" />}
                      <Card
                        deal={deal}
                        owner={deal.owner_id === null ? null : members.fullNameOf(deal.owner_id)}
                        reachable={deal.id === reachable}
                        carried={carried?.id === deal.id}
                        dragged={drag?.id === deal.id}
                        current={deal.id === current}
                        menu={menu(deal)}
                        menuOpen={menuOf === deal.id}
                        onMenu={(open) => setMenuOf(open ? deal.id : null)}
                        onKeyDown={(event) => onKeyDown(event, deal)}
                        onFocus={() => setActive(deal.id)}
                        onPointerDown={may ? (event) => begin(deal.id, event) : undefined}
                        describedBy={may ? hint : undefined}
                      />
                    </Fragment>
                  ))}
                  {here && over.index >= others.length && <li className={styles.drop} aria-hidden="true" />}
                </ul>
                {column.next_cursor !== null && (
                  <div className={styles.moreButton}>
                    <Button
                      size="small"
                      kind="quiet"
                      busy={state.loadingStage === stage.id}
                      onClick={() => state.more(stage.id)}
                    >
                      {t('more', { count: column.count - column.deals.length })}
                    </Button>
                  </div>
                )}
              </div>
            </section>
          );
        })}
      </div>
      {drag !== null && dragged !== undefined && (
        <div
          className={styles.floating}
          style={{ width: drag.width, transform: `translate(${drag.x}px, ${drag.y}px) rotate(1deg)` }}
          aria-hidden="true"
        >
          <span className={styles.name}>{dragged.name}</span>
          <CardSubject deal={dragged} />
          <CardFoot deal={dragged} owner={dragged.owner_id === null ? null : members.fullNameOf(dragged.owner_id)} />
        </div>
      )}
      <p className="visually-hidden" id={hint}>
        {t('keys')}
      </p>
      <p className="visually-hidden" role="status" aria-live="assertive">
        {said}
      </p>
      {losing !== null && (
        <Lose
          deal={losing.deal}
          onClose={() => setLosing(null)}
          onLose={(reason) => {
            setLosing(null);
            void move(losing.deal, losing.from, losing.to, reason === '' ? {} : { lost_reason: reason });
          }}
        />
      )}
    </>
  );
}

function ColumnHead({ stage, count, sums }: { stage: Stage; count: number; sums: Board['stages'][number]['sums'] }) {
  return (
    <div className={styles.columnHead}>
      <div className={styles.columnName}>
        <span className={styles.dot} data-kind={stage.kind} />
        <h2>{stage.name}</h2>
        <span className={styles.count}>
          <span aria-hidden="true">{count.toLocaleString('en')}</span>
          <span className="visually-hidden">{t('deals', { count })}</span>
        </span>
      </div>
      <div className={styles.sums}>
        {sums.map((sum) => (
          <span key={sum.currency}>{formatMoney(sum.amount, sum.currency)}</span>
        ))}
      </div>
    </div>
  );
}

function BoardSkeleton({ pipeline }: { pipeline: Pipeline }) {
  return (
    <div className={styles.board} aria-busy="true" role="region" aria-label={t('boardOf')} tabIndex={0}>
      {pipeline.stages.map((stage, i) => (
        <div key={stage.id} className={styles.column} data-shown={i === 0 || undefined}>
          <ColumnHead stage={stage} count={0} sums={[]} />
          <div className={styles.skeletons}>
            <Skeleton width="80%" />
            <Skeleton width="55%" />
            <Skeleton width="70%" />
          </div>
        </div>
      ))}
    </div>
  );
}

function firstOf(board: Board): string | null {
  return board.stages.find((stage) => stage.deals.length > 0)?.deals[0]?.id ?? null;
}
