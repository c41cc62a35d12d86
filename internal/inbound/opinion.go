package inbound

import (
	"context"
	"fmt"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/classify"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

const (
	// sure is the least confidence of an opinion that is recorded.
	sure = 0.7
	// maxAsked is how many bytes of a mail a model is asked about.
	maxAsked = 8 << 10
)

// undecided is the condition of a message on which a second opinion may be recorded: the rules do not know what it is,
// and no person has said so.
const undecided = `class = '` + classify.Unknown + `' AND class_by = '` + ByRule +
	`' AND NOT own AND read_at IS NOT NULL`

// Question returns the text of a message for a language model, or "" if the rules know what it is, a person has
// decided, or there is nothing to read.
func Question(ctx context.Context, tx *postgres.Tx, message id.ID) (string, error) {
	var subject, text string
	err := tx.QueryRow(ctx, `SELECT subject, coalesce(nullif(reply_text, ''), text) FROM message
		WHERE org_id = $1 AND id = $2 AND `+undecided, []any{tx.Org(), message}, &subject, &text)
	if postgres.None(err) || err == nil && subject == "" && text == "" {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read message: %w", err)
	}
	return "Subject: " + clean(subject, maxSubject) + "\n\n" + clean(text, maxAsked), nil
}

// opinions has the class of each label of a model.
var opinions = map[string]string{
	"positive": classify.Human, "neutral": classify.Human, "negative": classify.Human,
	"ooo": classify.AutoReply, "unsubscribe": classify.Unsubscribe,
}

// Opine records the opinion of a language model as the class of a message, unless the rules or a person have decided,
// or the model is not sure. Nothing else follows from it until a person confirms the class: SetClass acts then.
func Opine(ctx context.Context, tx *postgres.Tx, message id.ID, label string, confidence float64) error {
	class, ok := opinions[label]
	if !ok || confidence < sure {
		return nil
	}
	_, err := tx.Exec(ctx, `UPDATE message SET class = $3, class_by = $4, edit = edit + 1
		WHERE org_id = $1 AND id = $2 AND `+undecided, tx.Org(), message, class, ByAI)
	if err != nil {
		return fmt.Errorf("record opinion: %w", err)
	}
	return nil
}
