package jobs

import (
	"slices"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/inbound"
	"github.com/funnelwork/funnelwork/internal/keyring"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/sandbox/outbox"
	"github.com/funnelwork/funnelwork/internal/social"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

// Sealed lists every column with sealed values. A rotation of keys processes them.
func Sealed() []keyring.Column {
	return slices.Concat(webhooks.Sealed(), mail.Sealed(), auth.Sealed(), social.Sealed(),
		orgkey.Sealed(), mailboxes.Sealed(), outbox.Sealed(), inbound.Sealed(), orgsending.Sealed(), []keyring.Column{
			{
				Table: "sandbox_oauth", Name: "body",
				Key:   []keyring.KeyPart{{Name: "kind", Type: "text"}, {Name: "id", Type: "text"}},
				About: func(key []string) string { return "sandbox_oauth/" + key[0] + "/" + key[1] },
			},
			{Table: "idempotency_key", Name: "answer"}, // kept for a day
		})
}
