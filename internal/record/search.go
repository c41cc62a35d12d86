package record

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// searched is the maximum number of rows of a word table that a search reads for one word. It bounds a search to tens
// of milliseconds, whatever the number of records.
const searched = 5000

// Search returns at most limit live records, newest first, that have a word with each prefix of words. wordTable holds
// the folded words of the records: its key is org_id, word and the column key, the record's id. The table needs the
// column created_at. If every prefix begins more than 5,000 words, Search considers only some of the records.
func (t *Table[T]) Search(
	ctx context.Context,
	tx *postgres.Tx,
	wordTable, key string,
	words []string,
	limit int,
) ([]Row[T],
	error,
) {
	if len(words) == 0 {
		return nil, nil
	}
	first, err := rarestWord(ctx, tx, wordTable, words)
	if err != nil {
		return nil, fmt.Errorf("search %s: %w", t.Name, err)
	}
	q := &Query{args: []any{tx.Org()}}
	between := func(word string) string {
		return " w.word >= " + q.Arg(word) + " AND w.word < " + q.Arg(word+"\U0010FFFF")
	}
	set := "SELECT DISTINCT w." + key + " FROM (SELECT w." + key + " FROM " + wordTable +
		" w WHERE w.org_id = $1 AND" + between(words[first]) + fmt.Sprintf(" LIMIT %d) AS w", searched)
	for i, word := range words {
		if i != first {
			q.And(
				"EXISTS (SELECT FROM " + wordTable + " w WHERE w.org_id = $1 AND w." + key + " = " +
					t.Name + ".id AND" +
					between(
						word,
					) + ")",
			)
		}
	}
	tx.Queue(Planning)
	rows, err := tx.Query(
		ctx,
		"SELECT "+t.columns()+" FROM "+t.Name+" WHERE org_id = $1 AND archived_at IS NULL AND id IN ("+
			set+")"+q.where.String()+" ORDER BY created_at DESC, id DESC LIMIT "+q.Arg(limit),
		q.args...)
	if err != nil {
		return nil, fmt.Errorf("search %s: %w", t.Name, err)
	}
	found, err := pgx.CollectRows(rows, t.scan)
	if err != nil {
		return nil, fmt.Errorf("search %s: %w", t.Name, err)
	}
	return found, nil
}

// rarestWord returns the index of the word that begins the fewest words of the table.
func rarestWord(ctx context.Context, tx *postgres.Tx, wordTable string, words []string) (first int, err error) {
	if len(words) == 1 {
		return 0, nil
	}
	counts, args := make([]string, len(words)), []any{tx.Org()}
	for i, word := range words {
		args = append(args, word, word+"\U0010FFFF")
		counts[i] = fmt.Sprintf(`SELECT %d AS i, count(*) AS n FROM (SELECT FROM %s w WHERE w.org_id = $1
			AND w.word >= $%d AND w.word < $%d LIMIT %d) AS f`, i, wordTable, len(args)-1, len(args), searched+1)
	}
	tx.Queue(Planning)
	err = tx.QueryRow(ctx, "SELECT i FROM ("+strings.Join(counts, " UNION ALL ")+") AS c ORDER BY n, i LIMIT 1", args,
		&first)
	return first, err
}
