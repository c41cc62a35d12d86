package counts_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/events"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences/counts"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// steps are changes, one after another, of every kind that moves a count, and some that move none.
func (o *office) steps() []func() {
	one, other := o.sequences[0], o.sequences[1]
	set := func(table, sql string, args ...any) func() {
		return func() { o.exec(`UPDATE `+table+` SET `+sql, args...) }
	}
	a, b := o.enrol(one, "active"), o.enrol(one, "pending")
	mail, news := o.email(&a, "hello", "planned"), o.email(nil, "", "scheduled")
	return []func(){
		func() { o.enrol(other, "paused") },
		func() { o.email(&b, "later", "planned") },
		set("enrolment", `due_at = now() WHERE id = $1`, a),
		set("enrolment", `state = 'sending', due_at = NULL WHERE id = $1`, a),
		set("email", `status = 'transmitting', marked_at = now() WHERE id = $1`, mail),
		set("email", `status = 'planned', marked_at = NULL WHERE id = $1`, mail),
		set("email", `status = 'transmitting', marked_at = now() WHERE id = $1`, mail),
		set("email", `status = 'sent' WHERE id = $1`, mail),
		set("enrolment", `state = 'active', last_email_id = $2 WHERE id = $1`, a, mail),
		set("email", `opens = opens + 1, machine_opens = machine_opens + 2 WHERE id = $1`, mail),
		set("email", `opens = opens + 1, machine_clicks = 1, clicks = 1 WHERE id = $1`, mail),
		set("email", `delivered_at = now(), replied_at = now() WHERE id = $1`, mail),
		set("email", `replied_at = NULL, bounced = 'soft' WHERE id = $1`, mail),
		set("enrolment", `state = 'unsubscribed' WHERE id = $1`, a),
		set("enrolment", `last_email_id = NULL WHERE id = $1`, a),
		set("enrolment", `last_email_id = $2 WHERE id = $1`, a, mail),
		set("enrolment", `state = 'removed' WHERE id = $1`, a),
		set("enrolment", `state = 'unsubscribed' WHERE id = $1`, a),
		set("email", `status = 'planned' WHERE id = $1`, news),
		set("email", `status = 'sent', marked_at = now(), machine_opens = 3, complained_at = now() WHERE id = $1`,
			news),
		set("email", `machine_opens = 5, variant = 'b' WHERE id = $1`, news),
		set("email", `variant = 'c' WHERE id = $1`, mail),
		set("email", `enrolment_id = $2 WHERE id = $1`, mail, b),
		set("enrolment", `sequence_id = $2 WHERE id = $1`, b, other),
		func() { o.exec(`DELETE FROM email WHERE id = $1`, news) },
		func() { o.exec(`DELETE FROM enrolment WHERE id = $1`, a) },
		set("email", `clicks = 0 WHERE id = $1`, mail),
		func() { o.exec(`DELETE FROM enrolment`) },
		set("email", `clicks = 1`),
	}
}

func TestCountsFollowEachChangeAtOnceWheneverTheyAreBegunAndFolded(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(o *office, n int){
		"not counted": func(*office, int) {},
		"counted at first": func(o *office, n int) {
			if n == 0 {
				o.begin()
			}
		},
		"counted in the middle": func(o *office, n int) {
			if n == 10 {
				o.begin()
			}
		},
		"folded each time": func(o *office, _ int) {
			o.begin()
			o.fold()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := open(t)
			for n, step := range o.steps() {
				step()
				between(o, n)
				o.check(fmt.Sprintf("%s, after step %d", name, n))
			}
		})
	}
}

// fold folds all deltas. Transactions of other databases of the server do not hold up the horizon for long.
func (o *office) fold() {
	o.Helper()
	f, p := &counts.Folder{DB: o.System}, &events.HorizonPublisher{DB: o.System}
	for began := time.Now(); ; {
		if err := errors.Join(p.Publish(o.Context()), f.FoldNow(o.Context())); err != nil {
			o.Fatal(err)
		}
		left := o.one(`SELECT count(*) FROM outreach_delta`)
		if left == 0 {
			return
		}
		if time.Since(began) > time.Minute {
			o.Fatalf("%d deltas are left", left)
		}
	}
}

func TestFoldsLeaveNoDeltasOfEndedTransactions(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.begin()
	for _, step := range o.steps() {
		step()
	}
	if n := o.one(`SELECT count(*) FROM outreach_delta`); n < 20 {
		t.Fatalf("%d deltas of all steps", n)
	}
	o.fold()
	o.check("folded")
}

func TestCountsOfARestoredDatabaseAreReadFromTheirVersionOfAnotherCluster(t *testing.T) {
	t.Parallel()
	o := open(t)
	a := o.enrol(o.sequences[0], "active")
	o.begin()
	o.fold()
	o.email(&a, "hello", "sent")
	o.exec(`UPDATE outreach_count SET xid = xid + 1000000000000`)
	o.exec(`UPDATE outreach_delta SET xid = xid + 1000000000000 WHERE step <> ''`)
	o.check("restored")
	o.enrol(o.sequences[0], "active")
	o.check("written to")
	o.fold()
	o.check("folded")
	if n := o.one(`SELECT count(*) FROM outreach_count WHERE source_id = $1 AND xid > 1000000000000`,
		o.sequences[0]); n != 0 {
		t.Errorf("%d counts have a version of the other cluster", n)
	}
}

// TestADeletedEnrolmentTakesBackWhatItsEmailHasBecomeMeanwhile deletes an enrolment while a change of its email, or a
// new email of it, is not committed.
func TestADeletedEnrolmentTakesBackWhatItsEmailHasBecomeMeanwhile(t *testing.T) {
	t.Parallel()
	o := open(t)
	o.begin()
	kept := o.enrol(o.sequences[0], "active")
	o.email(&kept, "hello", "planned")
	o.email(&kept, "later", "planned")
	for name, change := range map[string]func(tx *postgres.Tx, enrolment, email id.ID){
		"a sent email": func(tx *postgres.Tx, _, email id.ID) {
			tx.Queue(`UPDATE email SET status = 'sent', marked_at = now() WHERE org_id = $1 AND id = $2`, tx.Org(),
				email)
		},
		"a new email": func(tx *postgres.Tx, enrolment, _ id.ID) {
			o.queueEmail(tx, id.New(), &enrolment, "later", nil, "planned")
		},
	} {
		a := o.enrol(o.sequences[0], "active")
		mail := o.email(&a, "hello", "planned")
		deleted := make(chan error, 1)
		o.tx(func(tx *postgres.Tx) error {
			change(tx, a, mail)
			if err := tx.Flush(t.Context()); err != nil {
				return err
			}
			go func() {
				_, err := o.sql.Exec(t.Context(), `DELETE FROM enrolment WHERE id = $1`, a)
				deleted <- err
			}()
			return o.awaitLock(deleted)
		})
		if err := <-deleted; err != nil {
			t.Fatal(err)
		}
		o.check(name)
	}
}

// awaitLock returns once a session of the database waits for a lock, or done has a result, which it leaves there.
func (o *office) awaitLock(done chan error) error {
	o.Helper()
	watch := testkit.Pgx(o.T, o.URL)
	for len(done) == 0 {
		var waits bool
		if err := watch.QueryRow(o.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits); err != nil || waits {
			return err
		}
	}
	return nil
}
