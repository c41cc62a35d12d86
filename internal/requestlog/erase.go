package requestlog

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// shortest is the fewest characters of a value that is searched for in all failures of an org: a shorter one is in the
// values of others, too.
const shortest = 3

// Erase queues the statement that removes a purged contact from the failures of tx's org: what is kept of requests
// whose path has the contact's id, and of those that have its id or one of its values.
func Erase(tx *postgres.Tx, contact id.ID, values ...string) {
	words := []string{contact.String()}
	for _, v := range values {
		if utf8.RuneCountInString(v) >= shortest {
			words = append(words, strings.ToLower(v), strings.ToLower(asJSON(v)))
		}
	}

	tx.Queue(postgres.PlanByDay)
	tx.Queue(`UPDATE request_log SET subject_id = NULL, body = NULL, errors = NULL
		WHERE org_id = $1 AND status >= 400 AND (subject_id = $2 OR body IS NOT NULL AND EXISTS (
			SELECT FROM unnest($3::text[]) AS w (word) WHERE strpos(lower(body::text), word) > 0
				OR strpos(lower(errors::text), word) > 0))`, tx.Org(), contact, words)
}

// asJSON returns v as it is within a JSON string.
func asJSON(v string) string {
	b, err := json.Marshal(v)
	if err != nil {
		return v
	}
	return strings.Trim(string(b), `"`)
}
