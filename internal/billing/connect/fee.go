package connect

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Split is the distribution of one invoice paid by a client, in minor units of the currency in which Stripe settles
// with the account: Gross = Net + ApplicationFee + StripeFee. Later refunds are recorded separately.
type Split struct {
	Invoice        string // Stripe's id, as ID, Charge and Fee
	Sale           id.ID
	Account        string
	Charge, Fee    string // Fee: "" if the platform took no fee
	Currency       string // ISO 4217
	Gross          int64
	StripeFee      int64
	ApplicationFee int64 // of the platform
	Net            int64 // of the reseller
	FeeBPS         int64 // configured percentage when the invoice was created, in hundredths
	Refunded       int64 // of Gross
	FeeRefunded    int64 // of ApplicationFee
	PaidAt         time.Time
}

const splitColumns = `invoice_id, sale_id, account, charge_id, fee_id, currency, gross, stripe_fee, ` +
	`application_fee, net, fee_bps, refunded, fee_refunded, paid_at`

// Splits returns the paid invoices of the clients of tx's org, latest first. The cursor is the time and the id of the
// last invoice of the previous page, both zero for the first page.
func Splits(ctx context.Context, tx *postgres.Tx, at time.Time, below string, limit int) ([]Split, error) {
	rows, err := tx.Query(ctx,
		`SELECT `+splitColumns+
			` FROM connect_fee WHERE org_id = $1 AND ($3 = '' OR (paid_at, invoice_id) < ($2, $3))
				ORDER BY paid_at DESC, invoice_id DESC LIMIT $4`,
		tx.Org(), at, below, limit)
	if err != nil {
		return nil, fmt.Errorf("read fees: %w", err)
	}

	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Split])
	if err != nil {
		return nil, fmt.Errorf("read fees: %w", err)
	}

	return all, nil
}

// CountSplits returns the total number of rows that Splits lists.
func CountSplits(ctx context.Context, tx *postgres.Tx) (n int64, err error) {
	err = tx.QueryRow(ctx, `SELECT count(*) FROM connect_fee WHERE org_id = $1`, []any{tx.Org()}, &n)
	return n, err
}

// keepSplit stores a payment. A new reading replaces the stored one; the refunded amounts keep the larger value,
// because refunds only grow and readings may arrive out of order.
func keepSplit(tx *postgres.Tx, x *Split, now time.Time) {
	tx.Queue(`INSERT INTO connect_fee (org_id, `+splitColumns+
		`, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
		ON CONFLICT (org_id, invoice_id) DO UPDATE SET charge_id = excluded.charge_id, fee_id = excluded.fee_id,
		currency = excluded.currency, gross = excluded.gross,
			stripe_fee = excluded.stripe_fee, application_fee = excluded.application_fee, net = excluded.net,
			paid_at = excluded.paid_at, updated_at = excluded.updated_at,
			refunded = greatest(connect_fee.refunded, excluded.refunded), fee_refunded =
			greatest(connect_fee.fee_refunded, excluded.fee_refunded)`,
		tx.Org(), x.Invoice, x.Sale, x.Account, x.Charge, x.Fee, x.Currency, x.Gross, x.StripeFee, x.ApplicationFee,
		x.Net, x.FeeBPS, x.Refunded, x.FeeRefunded, x.PaidAt, now)
}
