package broadcasts

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// BroadcastStats is what became of the emails of one variant.
type BroadcastStats struct {
	Variant       *string `json:"variant" doc:"Key of the variant; null: the mail has none"`
	Planned       int     `json:"planned" doc:"Emails that are not settled"`
	Sent          int     `json:"sent" doc:"Emails that the server accepted"`
	Unknown       int     `json:"unknown" doc:"Emails whose fate is not known"`
	Failed        int     `json:"failed" doc:"Emails that the server refused, or that were cancelled"`
	Delivered     int     `json:"delivered" doc:"Emails whose delivery was confirmed"`
	Bounced       int     `json:"bounced" doc:"Emails that came back"`
	Complained    int     `json:"complained" doc:"Emails that were reported as spam"`
	Replied       int     `json:"replied" doc:"Emails that a person replied to"`
	Clicked       int     `json:"clicked" doc:"Emails with a click by a person"`
	Opened        int     `json:"opened" doc:"Emails with an open by a person"`
	MachineClicks int     `json:"machine_clicks" doc:"Clicks by scanners"`
	MachineOpens  int     `json:"machine_opens" doc:"Opens by proxies and scanners"`
}

// Stats returns what became of the emails of a broadcast, by variant. If there is no such broadcast, the error is a
// not_found fault.
func Stats(ctx context.Context, tx *postgres.Tx, i id.ID) ([]BroadcastStats, error) {
	if _, err := Get(ctx, tx, i, true); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `
		SELECT variant, count(*) FILTER (WHERE status IN ('scheduled', 'planned', 'transmitting')),
			count(*) FILTER (WHERE status = 'sent'), count(*) FILTER (WHERE status = 'unknown'),
			count(*) FILTER (WHERE status IN ('failed', 'cancelled')), count(delivered_at), count(bounced),
			count(complained_at), count(replied_at), count(*) FILTER (WHERE clicks > 0),
			count(*) FILTER (WHERE opens > 0), coalesce(sum(machine_clicks), 0), coalesce(sum(machine_opens), 0)
		FROM email WHERE org_id = $1 AND broadcast_id = $2 GROUP BY variant ORDER BY variant`, tx.Org(), i)
	if err != nil {
		return nil, fmt.Errorf("count emails of broadcast: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[BroadcastStats])
	if err != nil {
		return nil, fmt.Errorf("count emails of broadcast: %w", err)
	}
	return all, nil
}

// Erase queues the removal of a contact from the audiences of broadcasts.
func Erase(tx *postgres.Tx, contact id.ID) {
	tx.Queue(`DELETE FROM broadcast_recipient WHERE org_id = $1 AND contact_id = $2`, tx.Org(), contact)
}
