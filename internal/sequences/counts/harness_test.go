package counts_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/counts"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// office is an org with two sequences and a broadcast.
type office struct {
	*testing.T
	*testkit.Database
	sql       *pgx.Conn
	org       id.ID
	sequences []id.ID
	broadcast id.ID
}

func open(t *testing.T) *office {
	t.Helper()
	db := testkit.DB(t)
	o := &office{T: t, Database: db, sql: testkit.Pgx(t, db.URL), org: id.New(), broadcast: id.New()}
	o.exec(`INSERT INTO org (id, name) VALUES ($1, 'Test')`, o.org)
	for range 2 {
		o.sequences = append(o.sequences, id.New())
		o.exec(`INSERT INTO sequence (org_id, id, name, name_folded, status, version, latest, created_at, updated_at)
			VALUES ($1, $2, 'Welcome', 'welcome', 'active', 1, 1, now(), now())`, o.org,
			o.sequences[len(o.sequences)-1])
	}
	o.exec(`INSERT INTO broadcast (org_id, id, name, mail, status, created_at, updated_at)
		VALUES ($1, $2, 'News', '{}', 'sending', now(), now())`, o.org, o.broadcast)
	return o
}

func (o *office) sources() []id.ID { return append(slices.Clone(o.sequences), o.broadcast) }

func (o *office) exec(sql string, args ...any) {
	o.Helper()
	if _, err := o.sql.Exec(o.Context(), sql, args...); err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
}

func (o *office) one(sql string, args ...any) (n int) {
	o.Helper()
	if err := o.sql.QueryRow(o.Context(), sql, args...).Scan(&n); err != nil {
		o.Fatalf("%s: %v", sql, err)
	}
	return n
}

func (o *office) tx(fn func(tx *postgres.Tx) error) {
	o.Helper()
	if err := o.App.Tx(o.Context(), o.org, fn); err != nil {
		o.Fatal(err)
	}
}

// begin counts the sources for the first time.
func (o *office) begin() {
	o.Helper()
	o.tx(func(tx *postgres.Tx) error {
		found, err := counts.Uncounted(o.Context(), tx, 100)
		for _, i := range found {
			if err == nil {
				err = counts.Begin(o.Context(), tx, i)
			}
		}
		return err
	})
}

// enrol inserts an enrolment.
func (o *office) enrol(sequence id.ID, state string) (enrolment id.ID) {
	o.Helper()
	enrolment = id.New()
	o.tx(func(tx *postgres.Tx) error {
		tx.Queue(enrolSQL, tx.Org(), sequence, []id.ID{enrolment}, state)
		return nil
	})
	return enrolment
}

// email inserts an email of an enrolment or, without one, of the broadcast.
func (o *office) email(enrolment *id.ID, step, status string) (email id.ID) {
	o.Helper()
	email = id.New()
	o.tx(func(tx *postgres.Tx) error {
		o.queueEmail(tx, email, enrolment, step, nil, status)
		return nil
	})
	return email
}

func (o *office) queueEmail(tx *postgres.Tx, email id.ID, enrolment *id.ID, step string, variant *string,
	status string,
) {
	var broadcast *id.ID
	key := &step
	if enrolment == nil {
		broadcast, key = &o.broadcast, nil
	}
	tx.Queue(emailSQL, tx.Org(), email, enrolment, key, variant, broadcast, status)
}

const (
	// enrolSQL inserts enrolments $3 of a sequence.
	enrolSQL = `INSERT INTO enrolment (org_id, id, sequence_id, version, contact_id, state, step, grp, mailbox_id, zone,
			created_at, state_at)
		SELECT $1, id, $2, 1, id, $4, 'hello', 1, $1, 'UTC', now(), now() FROM unnest($3::uuid[]) AS id`
	emailSQL = `INSERT INTO email (org_id, id, mailbox_id, thread_id, enrolment_id, step, variant, broadcast_id,
			automated, purpose, subject, to_email, to_domain, message_id, message_hash, status, due_at, marked_at,
			created_at, updated_at)
		VALUES ($1, $2::uuid, $1, $2::uuid, $3, $4, $5, $6, true, 'marketing', 's', $2::uuid || '@x.example',
			'x.example', $2::uuid::text, decode(md5($2::uuid::text), 'hex'), $7::text, now(),
			CASE WHEN $7::text IN ('sent', 'unknown', 'transmitting') THEN clock_timestamp() END, now(), now())`
)

// read returns the counts of all sources.
func (o *office) read() (all map[id.ID]*counts.Counts) {
	o.Helper()
	if err := o.App.ReadTx(o.Context(), o.org, func(tx *postgres.Tx) (err error) {
		all, err = counts.Read(o.Context(), tx, o.sources()...)
		return err
	}); err != nil {
		o.Fatal(err)
	}
	return all
}

// check compares the counts with the rows themselves.
func (o *office) check(when string) {
	o.Helper()
	if diff := cmp.Diff(o.plain(), o.read()); diff != "" {
		o.Errorf("%s: (-want +got):\n%s", when, diff)
	}
}

// plain counts row by row.
func (o *office) plain() map[id.ID]*counts.Counts {
	o.Helper()
	all := map[id.ID]*counts.Counts{}
	for _, i := range o.sources() {
		all[i] = &counts.Counts{Enrolments: map[string]int64{}}
	}
	rows, err := o.sql.Query(o.Context(), `SELECT sequence_id, state FROM enrolment WHERE org_id = $1`, o.org)
	if err != nil {
		o.Fatal(err)
	}
	var (
		of    id.ID
		state string
	)
	if _, err := pgx.ForEachRow(rows, []any{&of, &state}, func() error {
		all[of].Enrolments[state]++
		return nil
	}); err != nil {
		o.Fatal(err)
	}
	for _, e := range o.emails() {
		if e.sequence != nil && e.step != nil {
			e.count(all[*e.sequence], *e.step)
		}
		if e.broadcast != nil {
			e.unsubscribed = false
			e.count(all[*e.broadcast], "")
		}
	}
	for _, c := range all {
		slices.SortFunc(c.Emails, func(a, b counts.Emails) int {
			return strings.Compare(key(&a), key(&b))
		})
	}
	return all
}

func key(e *counts.Emails) string {
	if e.Variant == nil {
		return e.Step + " "
	}
	return e.Step + " " + *e.Variant
}

// mail is an email of the org.
type mail struct {
	sequence, broadcast                                   *id.ID
	step, variant                                         *string
	status                                                string
	delivered, bounced, complained, replied, unsubscribed bool
	clicks, opens, machineClicks, machineOpens            int
	marked                                                *time.Time
}

func (o *office) emails() []mail {
	o.Helper()
	rows, err := o.sql.Query(o.Context(), `SELECT n.sequence_id, e.broadcast_id, e.step, e.variant, e.status,
			e.delivered_at IS NOT NULL, e.bounced IS NOT NULL, e.complained_at IS NOT NULL, e.replied_at IS NOT NULL,
			coalesce(n.state = 'unsubscribed' AND n.last_email_id = e.id, false), e.clicks, e.opens, e.machine_clicks,
			e.machine_opens, e.marked_at
		FROM email e LEFT JOIN enrolment n ON n.org_id = e.org_id AND n.id = e.enrolment_id WHERE e.org_id = $1`, o.org)
	if err != nil {
		o.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m mail, err error) {
		return m, row.Scan(&m.sequence, &m.broadcast, &m.step, &m.variant, &m.status, &m.delivered, &m.bounced,
			&m.complained, &m.replied, &m.unsubscribed, &m.clicks, &m.opens, &m.machineClicks, &m.machineOpens,
			&m.marked)
	})
	if err != nil {
		o.Fatal(err)
	}
	return all
}

// count adds the email to the counts of a step.
func (m *mail) count(to *counts.Counts, step string) {
	at := slices.IndexFunc(to.Emails, func(e counts.Emails) bool {
		return e.Step == step && key(&e) == key(&counts.Emails{Step: step, Variant: m.variant})
	})
	if at < 0 {
		at = len(to.Emails)
		to.Emails = append(to.Emails, counts.Emails{Step: step, Variant: m.variant})
	}
	e := &to.Emails[at]
	switch m.status {
	case "scheduled", "planned":
		e.Waiting++
	case "transmitting":
		e.Transmitting++
	case "sent":
		e.Sent++
	case "unknown":
		e.Unknown++
	case "failed":
		e.Failed++
	case "cancelled":
		e.Cancelled++
	}
	for n, is := range map[*int]bool{
		&e.Delivered: m.delivered, &e.Bounced: m.bounced, &e.Complained: m.complained, &e.Replied: m.replied,
		&e.Unsubscribed: m.unsubscribed, &e.Clicked: m.clicks > 0, &e.Opened: m.opens > 0,
		&e.MachineClicked: m.machineClicks > 0, &e.MachineOpened: m.machineOpens > 0,
	} {
		if is {
			*n++
		}
	}
	if step == "" {
		e.MachineClicks += m.machineClicks
		e.MachineOpens += m.machineOpens
	}
	if m.marked != nil && (e.First == nil || m.marked.Before(*e.First)) {
		e.First = m.marked
	}
}
