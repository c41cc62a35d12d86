package webhooks

import (
	"context"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Verdict is the result of verifying a signature at the receiver.
type Verdict string

// The verdicts.
const (
	Valid          Verdict = "valid"
	Invalid        Verdict = "invalid"
	UnknownWebhook Verdict = "unknown_webhook" // no live webhook has this URL
)

// VerifyAt verifies a request received at url with the secrets of all live webhooks with that URL, of any org; the
// sandbox inbox acts as their receiver. tx must have the System role. The first verdict is for X-Service-Signature, the
// second for the Standard Webhooks signature. Several webhooks may share a URL; one matching secret suffices.
func (s *Service) VerifyAt(ctx context.Context, tx *postgres.Tx, url string, h http.Header,
	body []byte,
) (ours, standard Verdict, err error) {
	rows, err := tx.Query(ctx,
		`SELECT org_id, id, secret FROM webhook_endpoint WHERE url = $1 AND archived_at IS NULL LIMIT 20`, url)
	if err != nil {
		return "", "", fmt.Errorf("find webhook: %w", err)
	}
	type row struct {
		Org, ID id.ID
		Secret  []byte
	}
	all, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (e row, err error) {
		return e, r.Scan(&e.Org, &e.ID, &e.Secret)
	})
	if err != nil {
		return "", "", fmt.Errorf("find webhook: %w", err)
	}
	if len(all) == 0 {
		return UnknownWebhook, UnknownWebhook, nil
	}
	ours, standard = Invalid, Invalid
	for _, e := range all {
		plain, err := s.Box.Open(e.Secret, secretContext(e.Org, e.ID))
		if err != nil {
			return "", "", fmt.Errorf("open secret: %w", err)
		}
		a, b := Verify(string(plain), h, body)
		if a {
			ours = Valid
		}
		if b {
			standard = Valid
		}
	}
	return ours, standard, nil
}
