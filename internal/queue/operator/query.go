package operator

import (
	"strconv"
	"strings"

	"github.com/funnelwork/funnelwork/internal/queue/store"
)

// query builds SQL together with its arguments.
type query struct {
	sql   string
	terms []string
	args  []any
	order string
}

func (q *query) arg(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

// textSQL returns the SQL of an error text to search for, in lower case like the stored texts.
func (q *query) textSQL(part string) string { return `lower(` + q.arg(part) + `::text COLLATE "C")` }

func (q *query) and(term string) { q.terms = append(q.terms, term) }

func (q *query) where() string {
	if len(q.terms) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(q.terms, " AND ")
}

func (q *query) addCommon(f Filter, aliases store.Aliases, table, at string) {
	if f.Org != nil {
		q.and(table + `.org_id = ` + q.arg(*f.Org))
	}
	if names := aliases.Names(f.Kind); f.Kind != "" && len(names) == 1 {
		q.and(table + `.kind = ` + q.arg(f.Kind))
	} else if f.Kind != "" {
		q.and(table + `.kind = ANY (` + q.arg(names) + `::text[])`)
	}
	if f.Lane != "" {
		q.and(table + `.lane = ` + q.arg(string(f.Lane)))
	}
	if f.After != nil {
		q.and(at + ` >= ` + q.arg(*f.After))
	}
	if f.Before != nil {
		q.and(at + ` < ` + q.arg(*f.Before))
	}
}

func (o *Operator) deadQuery(f Filter, after *Place, oldest bool) *query {
	q := &query{order: " ORDER BY d.died_at DESC, d.id DESC"}
	past := "<"
	if oldest {
		q.order, past = " ORDER BY d.died_at, d.id", ">"
	}
	q.addCommon(f, o.store.Aliases, "d", "d.died_at")
	if after != nil {
		q.and(`(d.died_at, d.id) ` + past + ` (` + q.arg(after.At) + `, ` + q.arg(after.ID) + `)`)
	}
	return q
}

func (o *Operator) openQuery(f Filter, limit int, after *Place, oldest bool) *query {
	q := &query{order: " ORDER BY job.id DESC"}
	past := "<"
	if oldest {
		q.order, past = " ORDER BY job.id", ">"
	}
	q.and(`job.state = 'ready'`)
	switch f.State {
	case Waiting:
		q.and(`job.wake_at IS NULL AND job.attempt = 0`)
	case Retry:
		q.and(`job.wake_at IS NULL AND job.attempt > 0`)
	case Queued:
		q.and(`job.wake_at IS NOT NULL AND job.owner IS NULL AND NOT` + store.LockedSQL)
	case Running:
		q.and(`job.wake_at IS NOT NULL AND (job.owner IS NOT NULL OR` + store.LockedSQL + `)`)
	case Open, Dead:
	}
	q.addCommon(f, o.store.Aliases, "job", "job.created_at")
	if f.Error != "" {
		q.and(`position(` + q.textSQL(f.Error) + ` IN lower(job.last_error COLLATE "C")) > 0`)
	}
	if after != nil {
		q.and(`job.id ` + past + q.arg(after.ID))
	}
	q.sql = `SELECT` + columns + `, NULL::timestamptz FROM job` + q.where() + q.order + ` LIMIT ` + q.arg(limit)
	return q
}

// countQuery counts the dead jobs that match f.
func (o *Operator) countQuery(f Filter) *query {
	q := o.deadQuery(f, nil, false)
	if len(f.Error) >= shortest {
		q.and(`job_grams(d.error) @> job_grams(` + q.textSQL(f.Error) + `)`)
	}
	if f.Error != "" {
		q.and(`position(` + q.textSQL(f.Error) + ` IN d.error) > 0`)
	}
	q.sql = `SELECT count(*) FROM job_death d` + q.where()
	return q
}
