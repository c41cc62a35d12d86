package deals

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
)

// BoardStage is a stage of a board with its live deals.
type BoardStage struct {
	Stage id.ID
	Count int64
	Sums  []CurrencyAmount // by currency
	Deals []BoardDeal      // in the order of their positions
}

// BoardDeal is a deal with the names that its card shows.
type BoardDeal struct {
	Deal
	ContactName *string `json:"contact_name" doc:"Name of the contact, or the email without one; null: no contact"`
	CompanyName *string `json:"company_name" doc:"Name of the company; null: no company"`
}

// CurrencyAmount is the total amount of deals in one currency.
type CurrencyAmount struct {
	Currency string `json:"currency" doc:"Currency of amount, ISO 4217"`
	Amount   int64  `json:"amount" doc:"CurrencyAmount of the deals' amounts, in minor units of the currency"`
}

// BoardPosition returns the position of a deal on its stage's board.
func BoardPosition(d *Deal) record.Position { return record.Position{Key: d.Position, ID: d.ID} }

// sumsSQL reads the index deal_board alone.
const sumsSQL = `SELECT stage_id, currency, count(*), least(sum(amount), 9223372036854775807)::bigint
	FROM deal WHERE org_id = $1 AND stage_id = ANY ($2::uuid[]) AND archived_at IS NULL
	GROUP BY stage_id, currency ORDER BY stage_id, currency`

var pageSQL = `SELECT d.*,
	(SELECT coalesce(nullif(btrim(c.first_name || ' ' || c.last_name), ''), c.email) FROM contact c
			WHERE c.org_id = $1 AND c.id = d.contact_id),
		(SELECT c.name FROM company c WHERE c.org_id = $1 AND c.id = d.company_id)
	FROM unnest($2::uuid[]) AS s (stage) CROSS JOIN LATERAL (
		SELECT edit, ` + table.Columns + ` FROM deal
		WHERE org_id = $1 AND stage_id = s.stage AND archived_at IS NULL AND (position, id) > ($3::text, $4::uuid)
		ORDER BY position, id LIMIT $5) AS d
	ORDER BY d.stage_id, d.position, d.id`

// Board returns the given stages, each with at most limit live deals after a position, or from the beginning if after
// is nil. Counts and sums are those of all live deals of the stage. Their cost is proportional to the number of deals:
// about 30 ms for 100,000.
func Board(
	ctx context.Context,
	tx *postgres.Tx,
	stages []id.ID,
	after *record.Position,
	limit int,
) ([]BoardStage, error) {
	out, at := make([]BoardStage, len(stages)), map[id.ID]*BoardStage{}
	for i, s := range stages {
		out[i] = BoardStage{Stage: s, Sums: []CurrencyAmount{}, Deals: []BoardDeal{}}
		at[s] = &out[i]
	}
	if after == nil {
		after = &record.Position{}
	}
	tx.Queue(record.Planning)
	tx.Queue(sumsSQL, tx.Org(), stages).Query(func(rows pgx.Rows) error {
		var (
			stage  id.ID
			s      CurrencyAmount
			amount int64
		)
		_, err := pgx.ForEachRow(rows, []any{&stage, &s.Currency, &amount, &s.Amount}, func() error {
			at[stage].Count += amount
			at[stage].Sums = append(at[stage].Sums, s)
			return nil
		})
		return err
	})
	rows, err := tx.Query(ctx, pageSQL, tx.Org(), stages, after.Key, after.ID, limit)
	if err != nil {
		return nil, fmt.Errorf("read board: %w", err)
	}
	var (
		d    BoardDeal
		edit int
	)
	targets := slices.Concat([]any{&edit}, table.Scan(&d.Deal), []any{&d.ContactName, &d.CompanyName})
	_, err = pgx.ForEachRow(rows, targets, func() error {
		at[d.StageID].Deals = append(at[d.StageID].Deals, d)
		d = BoardDeal{}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read board: %w", err)
	}
	return out, nil
}
