package wordindex

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Pace bounds one run of Sync.
type Pace struct {
	Block int           // contacts per block, at most 8,192
	Marks int           // fewer marks than this are not packed
	For   time.Duration // start no further block after this time
}

// Usual returns limits that keep a run below a second.
func Usual() Pace { return Pace{Block: places, Marks: places / 2, For: 500 * time.Millisecond} }

// planning sets up the planner for a transaction. Every table holds the rows of all orgs, so reading a whole table is
// never right, whatever the statistics say.
const planning = `SELECT set_config('jit', 'off', true), set_config('enable_seqscan', 'off', true),
	set_config('random_page_cost', '1.1', true), set_config('plan_cache_mode', 'force_custom_plan', true),
	set_config('max_parallel_workers_per_gather', '0', true)`

// run is one run of Sync, with the org's row of word_index.
type run struct {
	tx          *postgres.Tx
	pace        Pace
	until       time.Time
	ready       bool
	building    bool
	fenced      bool // the fence is set
	passed      bool // no transaction below the fence is running
	builtID     *id.ID
	firstBlock  int
	nextBlock   int
	builtBlocks int
	moreMarks   bool // more marks than Pace.Marks are left
}

// Sync packs marks into blocks and continues a build. Due finds the remaining work. Sync changes nothing in an org
// without an index. Concurrent runs for one org wait for each other.
func Sync(ctx context.Context, tx *postgres.Tx, p Pace) error {
	r := &run{tx: tx, pace: p, until: time.Now().Add(p.For)}
	tx.Queue(planning)
	err := tx.QueryRow(ctx, `SELECT ready, building, fence IS NOT NULL,
		COALESCE(fence <= pg_snapshot_xmin(pg_current_snapshot()), false),
		built_id, first_block, next_block, built_blocks FROM word_index WHERE org_id = $1 FOR UPDATE`, []any{tx.Org()},
		&r.ready, &r.building, &r.fenced, &r.passed, &r.builtID, &r.firstBlock, &r.nextBlock, &r.builtBlocks)
	if postgres.None(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	if !r.fenced {
		tx.Queue(`UPDATE word_index SET fence = pg_snapshot_xmax(pg_current_snapshot()) WHERE org_id = $1`, tx.Org())
		return nil
	}
	if err := r.packMarks(ctx); err != nil {
		return err
	}
	if err := r.buildBlocks(ctx); err != nil {
		return err
	}
	if !r.building && r.nextBlock-r.firstBlock > 2*r.builtBlocks+16 {
		r.building = true
		r.builtID = nil
		r.firstBlock = r.nextBlock
	}
	tx.Queue(`UPDATE word_index SET ready = $2, due = $3, building = $4, built_id = $5,
		first_block = $6, next_block = $7, built_blocks = $8 WHERE org_id = $1`,
		tx.Org(), r.ready, r.building || r.moreMarks, r.building, r.builtID, r.firstBlock, r.nextBlock, r.builtBlocks)
	return nil
}

// packMarks packs marked contacts into blocks while there are enough marks.
func (r *run) packMarks(ctx context.Context) error {
	for first := true; first || time.Now().Before(r.until); first = false {
		rows, err := r.tx.Query(ctx, `SELECT id, contact_id FROM word_index_mark
			WHERE org_id = $1 ORDER BY id LIMIT $2`, r.tx.Org(), r.pace.Block)
		if err != nil {
			return fmt.Errorf("read marks: %w", err)
		}
		var (
			mark     int64
			contact  id.ID
			marks    []int64
			contacts []id.ID
		)
		if _, err := pgx.ForEachRow(rows, []any{&mark, &contact}, func() error {
			marks, contacts = append(marks, mark), append(contacts, contact)
			return nil
		}); err != nil {
			return fmt.Errorf("read marks: %w", err)
		}
		if r.moreMarks = len(marks) >= r.pace.Marks; !r.moreMarks {
			return nil
		}
		members, err := r.readContacts(ctx, `id = ANY ($2::uuid[])`, contacts)
		if err != nil {
			return err
		}
		r.insertBlock(members)
		r.tx.Queue(`DELETE FROM word_index_mark WHERE org_id = $1 AND id = ANY ($2::bigint[])`, r.tx.Org(), marks)
	}

	return nil
}

// buildBlocks packs the contacts that the build has not read yet into blocks.
func (r *run) buildBlocks(ctx context.Context) error {
	for first := true; r.building && r.passed && (first || time.Now().Before(r.until)); first = false {
		members, err := r.readContacts(ctx, `($2::uuid IS NULL OR id > $2) ORDER BY id LIMIT $3`, r.builtID,
			r.pace.Block)
		if err != nil {
			return err
		}
		r.insertBlock(members)
		if len(members) == r.pace.Block {
			r.builtID = &members[len(members)-1].id
			continue
		}
		r.tx.Queue(`DELETE FROM word_index_page WHERE org_id = $1 AND block < $2`, r.tx.Org(), r.firstBlock)
		r.ready = true
		r.building = false
		r.builtID = nil
		r.builtBlocks = r.nextBlock - r.firstBlock
	}

	return nil
}

// readContacts returns the org's contacts that satisfy the condition. Its arguments begin with $2.
func (r *run) readContacts(ctx context.Context, condition string, args ...any) ([]member, error) {
	rows, err := r.tx.Query(ctx, `SELECT id, company_id, words FROM contact WHERE org_id = $1 AND `+condition,
		append([]any{r.tx.Org()}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}
	members, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m member, err error) {
		err = row.Scan(&m.id, &m.company, &m.words)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}
	return members, nil
}

// insertBlock queues the insert of a block with the members. Without members it does nothing.
func (r *run) insertBlock(members []member) {
	if len(members) == 0 {
		return
	}
	numbers, data := pagesOf(members)
	r.tx.Queue(`INSERT INTO word_index_page (org_id, page, block, data)
		SELECT $1, p, $2, d FROM unnest($3::smallint[], $4::bytea[]) AS x (p, d)`,
		r.tx.Org(), r.nextBlock, numbers, data)
	r.nextBlock++
}
