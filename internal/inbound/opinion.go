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

// undecided is the condition of a message on which a second opinion is asked for: the rules are not sure what it is,
// and no person has said so.
const undecided = `(class = '` + classify.Unknown + `' OR class = '` + classify.Human +
	`' AND NOT sure) AND class_by = '` + ByRule + `' AND NOT own AND read_at IS NOT NULL`

// isForModel reports whether a model is asked about a message of which the rules are not sure. Whether a contact wants
// no more mails if another address of it says so, is for a person to say.
func isForModel(class string) bool { return class == classify.Unknown || class == classify.Human }

// Question returns the text of a message for a language model, or "" if the rules are sure what it is, a person has
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
	return "Subject: " + cleanText(subject, maxSubject) + "\n\n" + cleanText(text, maxAsked), nil
}

// opinions has the class of each label of a model.
var opinions = map[string]string{
	"positive": classify.Human, "neutral": classify.Human, "negative": classify.Human,
	"ooo": classify.AutoReply, "unsubscribe": classify.Unsubscribe,
}

// Opine settles the class of a message by the opinion of a language model, unless the rules or a person have decided,
// or the model is not sure. What follows is what would have, had the rules said so; a person can correct it. From the
// opinion that a contact wants no more mails nothing follows until a person confirms it, since a correction would not
// lift the suppression.
func (s *Service) Opine(ctx context.Context, tx *postgres.Tx, message id.ID, label string, confidence float64) error {
	class, ok := opinions[label]
	if !ok || confidence < sure {
		return nil
	}
	err := tx.QueryRow(ctx, `SELECT id FROM message WHERE org_id = $1 AND id = $2 AND `+undecided+` FOR UPDATE`,
		[]any{tx.Org(), message}, &message)
	if postgres.None(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("lock message: %w", err)
	}
	if class == classify.Unsubscribe {
		tx.Queue(`UPDATE message SET class = $3, sure = false, class_by = $4, edit = edit + 1
			WHERE org_id = $1 AND id = $2`, tx.Org(), message, class, ByAI)
		return nil
	}
	_, err = s.setClass(ctx, tx, message, class, ByAI, nil)
	return err
}
