package outbox

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Record returns the TXT record with the org's DKIM key.
func (s Signer) Record(ctx context.Context, org id.ID) (record string, err error) {
	err = s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		pair, err := orgkey.Of(ctx, tx, s.Box)
		if err == nil {
			public, _ := keyOf(pair.Org).Public().(ed25519.PublicKey)
			record = "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(public)
		}
		return err
	})
	return record, err
}
