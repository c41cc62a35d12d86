package emails

import (
	"context"
	"fmt"
	"strings"

	"github.com/funnelwork/funnelwork/internal/outreach/diagnosis"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Diagnose interprets the reply of a server in a session.
func Diagnose(r *transport.Result) diagnosis.Diagnosis {
	return diagnosis.Of(diagnosis.Reply{Code: r.Reply.Code, Enhanced: r.Reply.Enhanced, Text: r.Reply.Text})
}

// isHard reports whether a refusal means that the address does not exist. Before RCPT a server knows no recipient, and
// after the text it says so in words or by the code of an address.
func isHard(r *transport.Result) bool {
	d := Diagnose(r)
	if !d.IsHard() {
		return false
	}
	switch r.Stage {
	case transport.Rcpt:
		return true
	case transport.Data, transport.Dot:
		return d.Words || strings.HasPrefix(r.Reply.Enhanced, "5.1.")
	default:
		return false
	}
}

// enough refusals of the sender are the email's own: each time the server had taken other mails before.
const enoughRefusals = 3

// SenderRefused counts that the email was the first that its mailbox was refused for, and reports whether that has
// happened so often, while others were taken, that the refusal is the email's own.
func (o *Outgoing) SenderRefused(ctx context.Context, tx *postgres.Tx) (isOwn bool, err error) {
	var n int
	err = tx.QueryRow(ctx, `UPDATE email SET sender_refusals = sender_refusals + 1 WHERE org_id = $1 AND id = $2
		RETURNING sender_refusals`, []any{tx.Org(), o.ID}, &n)
	if err != nil && !postgres.None(err) {
		return false, fmt.Errorf("count refusals: %w", err)
	}
	return n >= enoughRefusals, nil
}
