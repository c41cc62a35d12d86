package chaos_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/testkit/smtpd"
)

// walkSteps is how many emails the sequence has, three days apart.
const walkSteps = 4

// walk is contacts that walk through a sequence, and the processes that are killed meanwhile.
type walk struct {
	*house
	server   *testkit.PostgresServer
	mail     *smtpd.Server
	contacts []id.ID
	api      *process
	fleet    []*process
	workers  []*process
	kills    map[string]int
	clients  sync.WaitGroup
}

// Contacts are enrolled by requests and walk through a sequence of four emails while processes of every role are killed
// at random. Days pass by moving the times of rows back.
func TestContactsWalkThroughASequenceOnceThoughEveryRoleIsKilled(t *testing.T) {
	t.Parallel()
	openWalk(t, sized(24, 10000)).through(false)
}

// The same while Redis loses everything again and again, and Postgres crashes and recovers, and is restarted.
func TestContactsWalkThroughASequenceOnceThoughTheServersAreLostToo(t *testing.T) {
	t.Parallel()
	openWalk(t, sized(24, 10000)).through(true)
}

func openWalk(t *testing.T, n int) *walk {
	t.Helper()
	server := testkit.RealPostgres(t)
	w := &walk{house: openOn(t, server.URL), server: server, mail: smtpd.Start(t, nil), kills: map[string]int{}}
	w.mail.Fail(func(string) smtpd.Fault {
		replies := make(chan struct{})
		time.AfterFunc(rand.N(50*time.Millisecond), func() { close(replies) })
		f := smtpd.Fault{Wait: replies}
		switch rand.IntN(80) {
		case 0: // takes the mail and dies
			f.At, f.Hang, f.Accept = smtpd.Dot, true, true
		case 1: // dies with the dot
			f.At, f.Hang = smtpd.Dot, true
		case 2:
			f.At, f.Code = smtpd.Rcpt, 451
		}
		return f
	})
	const private = "FUNNELWORK_MAIL_ALLOW_PRIVATE=true"
	w.api = w.house.api("api1", "FUNNELWORK_RATE_LIMIT=off", private)
	token, sequence := w.sequence()
	for _, name := range []string{"worker1", "worker2"} {
		w.workers = append(w.workers, w.process(name, []string{build(t), "worker"}, private,
			"FUNNELWORK_OPS_ADDR="+freePort(t)))
	}
	scheduler := w.process("scheduler1", []string{build(t), "scheduler"}, "FUNNELWORK_OPS_ADDR="+freePort(t))
	w.fleet = append([]*process{w.api, scheduler}, w.workers...)
	w.people(n)
	w.enrol(token, sequence, sized(4, 100))
	return w
}

// sequence signs an org up and activates a sequence whose window never closes. It returns an API key and the path of
// the sequence.
func (w *walk) sequence() (key, path string) {
	w.t.Helper()
	session := w.post(201, w.api.url+"/api/v1/auth/signup", "",
		`{"org_name":"Walk","email":"owner@example.com","password":"correct-horse-battery"}`)
	token, _ := session["access_token"].(string)
	made := w.post(201, w.api.url+"/api/v1/api-keys", token, `{"name":"chaos","role":"member"}`)
	key, _ = made["key"].(string)
	if a := w.say(http.MethodPut, w.api.url+"/api/v1/org/sending", token, "",
		`{"postal_address":"1 High Street"}`); a.status != http.StatusOK {
		w.t.Fatalf("postal address: %d: %s", a.status, a.body)
	}
	mailbox := id.New()
	w.do(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, smtp_host, smtp_port,
			smtp_tls, status, daily_cap, gap_min, gap_max, created_at, updated_at)
		SELECT id, $1, 'Walk', 'smtp', 'hello@shop.example', 'hello@shop.example', 'shop.example', $2, $3, 'none',
			'active', NULL, 0, 0, now(), now() FROM org RETURNING 1`, mailbox, w.mail.Host, w.mail.Port)
	var steps []string
	for i := range walkSteps {
		delay := 3
		if i == 0 {
			delay = 0
		}
		steps = append(steps, fmt.Sprintf(`{"key":"mail-%d","kind":"email","delay":{"value":%d,"unit":"days"},`+
			`"email":{"subject":"Mail","text":"Hi {{ contact.first_name }} {{ unsubscribe_url }}","thread":"new"}}`,
			i+1, delay))
	}
	s := w.post(201, w.api.url+"/api/v1/sequences", token, fmt.Sprintf(`{"name":"Walk","mailbox_ids":[%q],`+
		`"late_after_hours":720,"schedule":{"time_zone":"UTC","days":["mon","tue","wed","thu","fri","sat","sun"],`+
		`"from":"00:00","to":"24:00"},"steps":[%s]}`, mailbox, strings.Join(steps, ",")))
	path = fmt.Sprint("/api/v1/sequences/", s["id"])
	w.post(200, w.api.url+path+"/activate", token, "{}")
	return key, path
}

// do runs a statement with RETURNING, in a new session if the old one is gone.
func (w *walk) do(sql string, args ...any) {
	w.t.Helper()
	var n int
	if err := w.ask("WITH u AS ("+sql+") SELECT count(*) FROM u", args, &n); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

// people inserts n contacts, each at a domain of its own because of the caps.
func (w *walk) people(n int) {
	w.t.Helper()
	for range n {
		w.contacts = append(w.contacts, id.New())
	}
	w.do(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
			created_at, updated_at)
		SELECT org.id, u.id, 'w@d' || n || '.example', 'w@d' || n || '.example', 'A', 'B', 'b', 'lead', now(), now()
		FROM org, unnest($1::uuid[]) WITH ORDINALITY AS u (id, n) RETURNING 1`, w.contacts)
	w.do(`INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced, segments,
		scored_at) SELECT org_id, id, 0, 0, 'test', 'prior', 0, '{}', now() FROM contact RETURNING 1`)
}

// enrol has clients enrol the contacts, some with each request, which is repeated until the API confirms it.
func (w *walk) enrol(token, path string, each int) {
	pieces := make(chan []id.ID)
	for range 4 {
		w.clients.Go(func() {
			for piece := range pieces {
				body, err := json.Marshal(map[string]any{"contact_ids": piece})
				if err != nil {
					w.t.Error(err)
					return
				}
				for w.t.Context().Err() == nil {
					a := w.say(http.MethodPost, w.api.url+path+"/enroll", token, piece[0].String(), string(body))
					if a.status == http.StatusOK {
						break
					}
					if a.status != 0 && a.status != 409 && a.status != 503 {
						w.t.Errorf("enrol: %d: %s", a.status, a.body)
						return
					}
					<-time.After(50 * time.Millisecond)
				}
			}
		})
	}
	w.clients.Go(func() {
		defer close(pieces)
		for from := 0; from < len(w.contacts); from += each {
			select {
			case pieces <- w.contacts[from:min(from+each, len(w.contacts))]:
			case <-w.t.Context().Done():
				return
			}
		}
	})
}

// through kills processes until all contacts are through, and compares the rows with the log of the mail server.
func (w *walk) through(servers bool) {
	w.t.Helper()
	begin, flushed, moved := time.Now(), time.Now(), time.Now()
	flushes, restarts, moves := 0, 0, -1
	for {
		<-time.After(sized(500*time.Millisecond, time.Second) + rand.N(sized(700*time.Millisecond, time.Second)))
		w.pass()
		over := w.count(`SELECT count(*) FROM enrolment WHERE ended_at IS NOT NULL`)
		if over == len(w.contacts) {
			break
		}
		for _, p := range w.fleet {
			p.revive()
		}
		// A slow machine gets the time to start processes: they are killed once something has moved since the last
		// kill.
		now := w.moves()
		if now == moves {
			if time.Since(moved) > giveUpAfter {
				w.t.Fatalf("%d of %d are through, and nothing moves; %d jobs open", over, len(w.contacts), w.open())
			}
			continue
		}
		moves, moved = now, time.Now()
		if w.kill(); !servers {
			continue
		}
		if time.Since(flushed) > sized(2*time.Second, time.Minute) {
			flushed = time.Now()
			flushes++
			if err := w.link.FlushAll(w.t.Context()).Err(); err != nil {
				w.t.Fatal(err)
			}
		}
		sent := w.count(`SELECT count(*) FROM email WHERE status = 'sent'`)
		if restarts < 2 && sent > (restarts+1)*walkSteps*len(w.contacts)/3 {
			end := []func(){w.server.Crash, w.server.Stop}[restarts]
			end()
			<-time.After(sized(500*time.Millisecond, 5*time.Second))
			w.server.Start()
			restarts++
		}
	}
	w.clients.Wait()
	w.figure("through", "", "%d contacts in %s", len(w.contacts), time.Since(begin).Round(time.Second))
	w.figure("kills", "of every role", "%v", w.kills)
	if servers {
		w.figure("FLUSHALL, restarts of Postgres", "2 restarts", "%d, %d", flushes, restarts)
		if flushes == 0 || restarts < 2 {
			w.t.Errorf("%d times Redis was emptied, and %d times Postgres restarted", flushes, restarts)
		}
	}
	for _, p := range w.fleet {
		p.kill(syscall.SIGKILL)
	}
	w.walked()
}

// moves returns a number that grows with each contact that is enrolled, and each transition and mail after it.
func (w *walk) moves() int {
	w.t.Helper()
	return w.count(`SELECT (SELECT count(*) FROM enrolment) + (SELECT count(*) FROM enrolment_history)
		+ (SELECT count(*) FROM email WHERE status <> 'planned')`)
}

// kill kills a process and starts it again; at times all workers at once, whose leases then expire.
func (w *walk) kill() {
	w.t.Helper()
	dies := []*process{w.fleet[rand.IntN(len(w.fleet))]}
	if rand.IntN(4) == 0 {
		dies = w.workers
	}
	for _, p := range dies {
		p.kill(syscall.SIGKILL)
		w.kills[p.name[:len(p.name)-1]]++
	}
	if len(dies) > 1 {
		w.do(`UPDATE job SET lease_until = now(), wake_at = now() WHERE owner IS NOT NULL RETURNING 1`)
	}
	for _, p := range dies {
		p.start()
	}
}

// pass lets three days pass for the steps that wait, and makes due what waits for minutes.
func (w *walk) pass() {
	w.t.Helper()
	for _, sql := range []string{
		`UPDATE enrolment SET due_at = due_at - interval '3 days' WHERE due_at > now()`,
		`UPDATE send_group SET wake_at = now() WHERE wake_at > now()`,
		`UPDATE email SET due_at = now() WHERE status = 'planned' AND due_at > now()`,
		`UPDATE email SET marked_at = marked_at - interval '3 days' WHERE status = 'unknown'
			AND marked_at > now() - interval '1 day'`,
		`UPDATE job SET run_at = now() WHERE kind LIKE 'email.%' AND owner IS NULL AND state = 'ready'
			AND run_at > now() + interval '2 seconds'`,
	} {
		w.do(sql + ` RETURNING 1`)
	}
}

// walked fails if the mail server has a mail twice, if a mail or an enrolment is lost, or if a history has a gap.
func (w *walk) walked() {
	w.t.Helper()
	accepted := map[string]int{}
	for _, a := range w.mail.Accepted() {
		accepted[strings.Trim(a.MessageID, "<>")]++
	}
	rows, err := w.sql.Query(w.t.Context(), `SELECT message_id, status FROM email WHERE status <> 'cancelled'`)
	if err != nil {
		w.t.Fatal(err)
	}
	var messageID, status string
	mails, unknown := 0, 0
	if _, err := pgx.ForEachRow(rows, []any{&messageID, &status}, func() error {
		mails++
		switch got := accepted[messageID]; {
		case got > 1:
			w.t.Errorf("%s was accepted %d times", messageID, got)
		case status == "sent" && got == 0:
			w.t.Errorf("%s is sent, and the server does not have it", messageID)
		case status == "unknown":
			unknown++
		case status != "sent":
			w.t.Errorf("%s is %s", messageID, status)
		}
		delete(accepted, messageID)
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	n := len(w.contacts)
	w.figure("emails, of them unknown", fmt.Sprint(walkSteps*n), "%d, %d", mails, unknown)
	if mails != walkSteps*n || len(accepted) > 0 {
		w.t.Errorf("%d emails, want %d; the server has %d more", mails, walkSteps*n, len(accepted))
	}
	for what, sql := range map[string]string{
		"contacts that are not enrolled once": `SELECT count(*) FROM contact c WHERE (SELECT count(*) FROM enrolment e
			WHERE e.contact_id = c.id) <> 1`,
		"enrolments that are not finished": `SELECT count(*) FROM enrolment WHERE state <> 'finished'`,
		"steps with several emails": `SELECT count(*) FROM (SELECT FROM email WHERE status <> 'cancelled'
			GROUP BY enrolment_id, step HAVING count(*) > 1) x`,
		"transitions that do not follow the one before": `SELECT count(*) FROM (SELECT from_state,
			lag(to_state, 1, first_state) OVER (PARTITION BY enrolment_id ORDER BY at, h.id) AS before
			FROM enrolment_history h JOIN enrolment n ON n.id = enrolment_id) x
			WHERE from_state <> before`,
		"enrolments without a whole history": fmt.Sprintf(`SELECT count(*) FROM enrolment e WHERE (SELECT count(*)
			FROM enrolment_history h WHERE h.enrolment_id = e.id AND to_state = 'sending') <> %d`, walkSteps),
	} {
		if got := w.count(sql); got != 0 {
			w.t.Errorf("%d %s", got, what)
		}
	}
	for kind, want := range map[string]int{"enrolled": 1, "step_completed": walkSteps, "finished": 1, "stopped": 0} {
		if got := w.count(`SELECT count(*) FROM event WHERE type = $1`, "sequence."+kind); got != want*n {
			w.t.Errorf("%d events sequence.%s, want %d", got, kind, want*n)
		}
	}
}
