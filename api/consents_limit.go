package api

import (
	"context"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// consentRequests is how many mails a contact gets in 24 hours that ask for its consent.
const consentRequests = 3

// countConsentRequest counts a request for a contact's consent. The 4th in 24 hours is a rate_limited fault, which
// rolls the transaction back. The count is in the database, because it protects a person from mails: it must not start
// anew when Redis does.
func countConsentRequest(ctx context.Context, tx *postgres.Tx, contact id.ID) error {
	var (
		n     int
		since time.Time
	)
	if err := tx.QueryRow(ctx, `INSERT INTO consent_request AS r (org_id, contact_id) VALUES ($1, $2)
		ON CONFLICT (org_id, contact_id) DO UPDATE SET
			requests = CASE WHEN r.since < now() - interval '24 hours' THEN 1 ELSE r.requests + 1 END,
			since = CASE WHEN r.since < now() - interval '24 hours' THEN now() ELSE r.since END
		RETURNING requests, since`, []any{tx.Org(), contact}, &n, &since); err != nil {
		return fmt.Errorf("count requests for consent: %w", err)
	}
	if n <= consentRequests {
		return nil
	}

	return &fault.Fault{
		Code:       fault.RateLimited,
		Detail:     "This contact was asked for its consent often enough today. Wait as long as Retry-After says.",
		RetryAfter: max(time.Until(since.Add(24*time.Hour)), time.Second),
	}
}
