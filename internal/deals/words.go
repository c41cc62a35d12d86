package deals

import (
	"context"
	"slices"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// Search returns at most limit live deals, newest first, that have a word in their name for each of words, which are
// folded (see filter.Words): the word or a longer one that begins with it.
func Search(ctx context.Context, tx *postgres.Tx, words []string, limit int) ([]Row, error) {
	return table.Search(ctx, tx, "deal_word", "deal_id", words, limit)
}

func addWords(tx *postgres.Tx, deal id.ID, words []string) {
	if len(words) > 0 {
		tx.Queue(`INSERT INTO deal_word (org_id, word, deal_id) SELECT $1, w, $2 FROM unnest($3::text[]) w
			ON CONFLICT DO NOTHING`, tx.Org(), deal, words)
	}
}

func takeWords(tx *postgres.Tx, deal id.ID, words []string) {
	if len(words) > 0 {
		tx.Queue(`DELETE FROM deal_word WHERE org_id = $1 AND word = ANY ($3::text[]) AND deal_id = $2`,
			tx.Org(), deal, words)
	}
}

// withoutAll returns the elements of a that are not in b.
func withoutAll(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
