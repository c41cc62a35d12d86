package outbox

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"

	"github.com/emersion/go-msgauth/dkim"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/orgkey"
	sign "github.com/funnelwork/funnelwork/internal/outreach/dkim"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
)

// Selector is the DKIM selector of sandbox mails.
const Selector = "sandbox"

// Signer signs the mails of sandbox mailboxes.
type Signer struct {
	App *postgres.DB
	Box *secret.Sealer
}

// Sign returns the mail with a DKIM signature if the mailbox is a sandbox, and unchanged otherwise.
func (s Signer) Sign(ctx context.Context, org id.ID, m *mailboxes.Sending, mime []byte) ([]byte, error) {
	if m.Kind != mailboxes.Sandbox {
		return mime, nil
	}

	var key ed25519.PrivateKey
	err := s.App.Tx(ctx, org, func(tx *postgres.Tx) error {
		pair, err := orgkey.Of(ctx, tx, s.Box)
		if err == nil {
			key = keyOf(pair.Org)
		}
		return err
	})
	if err != nil {
		return nil, err
	}

	signing := sign.Key{Domain: m.FromDomain, Selector: Selector, Signer: key}

	return signing.Sign(mime)
}

func keyOf(key orgkey.Key) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(key.Hash("sandbox.dkim", ""))
}

// verifyDKIM returns the result of the DKIM check of a mail, with the org's key in place of DNS.
func verifyDKIM(key orgkey.Key, raw []byte) string {
	public, ok := keyOf(key).Public().(ed25519.PublicKey)
	if !ok {
		return "none"
	}

	record := "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(public)
	found, err := dkim.VerifyWithOptions(bytes.NewReader(raw), &dkim.VerifyOptions{
		LookupTXT: func(string) ([]string, error) { return []string{record}, nil },
	})
	switch {
	case err != nil:
		return "error: " + err.Error()
	case len(found) == 0:
		return "none"
	case found[0].Err != nil:
		return "fail: " + found[0].Err.Error()
	}

	return "pass (d=" + found[0].Domain + ", s=" + Selector + ")"
}
