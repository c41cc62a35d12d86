package tracking

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/enrolments/states"
	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/tracking/links"
)

const (
	load = 500 // hits that one run judges
	// most is how many hits of an email are counted: its pixel can be asked for without end.
	most = 1000
)

// Judge decides on the hits of the org of tx whose time has come, at most 500, and deletes those that matter no more.
// Hits far in the future, of a process whose clock is ahead of Postgres's, do not wait for their time. It returns the
// contacts who have followed a link.
func Judge(ctx context.Context, tx *postgres.Tx) (clicked []id.ID, err error) {
	due, err := readHits(ctx, tx, `SELECT `+hitColumns+`
		WHERE h.org_id = $1 AND NOT h.judged AND (h.at < now() - make_interval(secs => $2)
			OR h.at > now() + make_interval(secs => $4)) ORDER BY h.at LIMIT $3
		FOR UPDATE OF h SKIP LOCKED`, hold.Seconds(), load, keep.Seconds())
	if err != nil {
		return nil, err
	}

	var of, ids []id.ID
	for i := range due {
		ids = append(ids, due[i].id)
		if !slices.Contains(of, due[i].email) {
			of = append(of, due[i].email)
		}
	}

	around, err := readNeighbours(ctx, tx, of)
	if err != nil {
		return nil, err
	}

	mails, err := emails.Find(ctx, tx, of)
	if err != nil {
		return nil, err
	}

	for _, m := range mails {
		found, err := judgeEmail(ctx, tx, &m, due, around[m.ID])
		if err != nil {
			return nil, err
		}
		if c := m.ContactID; found.Clicks > 0 && c != nil && !slices.Contains(clicked, *c) {
			clicked = append(clicked, *c)
		}
	}

	tx.Queue(`UPDATE email_hit SET judged = true WHERE org_id = $1 AND id = ANY ($2)`, tx.Org(), ids)
	tx.Queue(`DELETE FROM email_hit WHERE org_id = $1 AND judged AND at < now() - make_interval(secs => $2)`, tx.Org(),
		keep.Seconds())
	return clicked, nil
}

// readNeighbours returns the hits of emails that matter for verdicts, by email.
func readNeighbours(ctx context.Context, tx *postgres.Tx, of []id.ID) (map[id.ID][]hit, error) {
	all, err := readHits(ctx, tx, `SELECT `+hitColumns+`
		WHERE h.org_id = $1 AND h.email_id = ANY ($2) ORDER BY h.email_id, h.at LIMIT $3`, of, 20*load)
	if err != nil {
		return nil, err
	}
	out := map[id.ID][]hit{}
	for i := range all {
		out[all[i].email] = append(out[all[i].email], all[i])
	}
	return out, nil
}

// hitColumns is the columns of a hit with the target of its link, and their tables.
const hitColumns = `h.id, h.email_id, h.link, h.at, h.signs, h.net, h.judged, l.url FROM email_hit h
	LEFT JOIN email_link l ON l.org_id = h.org_id AND l.email_id = h.email_id AND l.n = h.link`

func readHits(ctx context.Context, tx *postgres.Tx, sql string, args ...any) ([]hit, error) {
	rows, err := tx.Query(ctx, sql, append([]any{tx.Org()}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read hits: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h hit, err error) {
		err = row.Scan(&h.id, &h.email, &h.link, &h.at, &h.signs, &h.net, &h.judged, &h.url)
		return h, err
	})
	if err != nil {
		return nil, fmt.Errorf("read hits: %w", err)
	}
	return all, nil
}

// judgeEmail writes the facts, the figures and the events of the due hits of an email. It returns the figures.
func judgeEmail(ctx context.Context, tx *postgres.Tx, m *emails.Row, due, around []hit) (f emails.Facts, err error) {
	room := most - m.Facts.Opens - m.Facts.MachineOpens - m.Facts.Clicks - m.Facts.MachineClicks
	for i := range due {
		h := &due[i]
		if h.email != m.ID || room <= 0 || h.isRepeat(around) || m.MarkedAt == nil {
			continue
		}
		room--
		found := h.machineSigns(around, &m.MarkedAt.Time)
		countHit(&f, h.link, found != 0)
		if err := recordHit(ctx, tx, m, h, found); err != nil {
			return f, err
		}
	}

	emails.AddFacts(tx, m.ID, &f)
	if f.Clicks == 0 || m.EnrolmentID == nil {
		return f, nil
	}

	return f, states.Noticed(ctx, tx, *m.EnrolmentID)
}

// countHit adds a hit to the figures of an email.
func countHit(f *emails.Facts, link int16, machine bool) {
	switch {
	case link == links.Pixel && machine:
		f.MachineOpens++
	case link == links.Pixel:
		f.Opens++
	case machine:
		f.MachineClicks++
	default:
		f.Clicks++
	}
}

// recordHit writes the fact and the event of a hit.
func recordHit(ctx context.Context, tx *postgres.Tx, m *emails.Row, h *hit, found signs) error {
	kind := "opened"
	link := (*int16)(nil)
	if h.link != links.Pixel {
		kind, link = "clicked", &h.link
	}
	why := found.names()
	tx.Queue(`INSERT INTO email_fact (org_id, id, email_id, contact_id, kind, link, machine, why, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`, tx.Org(), h.id, m.ID, m.ContactID, kind,
		link, found != 0, why, h.at)
	e := m.Event()
	e.Machine = found != 0
	e.Why = why
	if h.link == links.Pixel {
		return events.Announce(ctx, tx, events.EmailOpened{Email: e})
	}
	if h.url == nil {
		return nil // of the link that people do not see, or of a mail that was erased
	}

	e.URL = h.url
	return events.Announce(ctx, tx, events.EmailClicked{Email: e})
}

// waitingSQL finds the orgs with due hits and without an open job, by one probe of the index per org.
const waitingSQL = `
WITH RECURSIVE found AS (
	(SELECT org_id FROM email_hit WHERE NOT judged ORDER BY org_id LIMIT 1)
	UNION ALL
	SELECT (SELECT h.org_id FROM email_hit h WHERE NOT h.judged AND h.org_id > found.org_id ORDER BY h.org_id LIMIT 1)
	FROM found WHERE found.org_id IS NOT NULL
)
SELECT f.org_id FROM found f
WHERE f.org_id IS NOT NULL
	AND (EXISTS (SELECT FROM email_hit h WHERE h.org_id = f.org_id AND NOT h.judged
			AND h.at < now() - make_interval(secs => $2))
		OR EXISTS (SELECT FROM email_hit h WHERE h.org_id = f.org_id AND NOT h.judged
			AND h.at > now() + make_interval(secs => $3)))
	AND NOT EXISTS (SELECT FROM job j WHERE j.org_id = f.org_id AND j.dedupe_key = $1)
LIMIT 1000`

// Waiting returns the orgs that have work for Judge and no open job with the given dedupe key. system must be a
// connection of the system role.
func Waiting(ctx context.Context, system *postgres.DB, dedupe string) ([]id.ID, error) {
	var found []id.ID
	err := system.ReadTx(ctx, id.ID{}, func(tx *postgres.Tx) error {
		rows, err := tx.Query(ctx, waitingSQL, dedupe, hold.Seconds(), keep.Seconds())
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find orgs with hits: %w", err)
	}
	return found, nil
}
