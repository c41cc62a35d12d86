package emails

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// TextOf returns the text and the HTML of an email, or "" if its content was swept.
func TextOf(ctx context.Context, tx *postgres.Tx, email id.ID) (text, html string, err error) {
	err = tx.QueryRow(ctx, `SELECT text, html FROM email_content WHERE org_id = $1 AND email_id = $2`,
		[]any{tx.Org(), email}, &text, &html)
	if err != nil && !postgres.None(err) {
		return "", "", fmt.Errorf("read text of email: %w", err)
	}
	return text, html, nil
}
