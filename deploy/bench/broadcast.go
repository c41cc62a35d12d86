package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/id"
)

// broadcastKills is how often the worker is killed during the second broadcast.
const broadcastKills = 6

// broadcasting is an org with contacts and two mailboxes: one on a server that keeps nothing, one on a recorder.
type broadcasting struct {
	*post
	api      *process
	contacts int
	recorder *recorder
}

// broadcastBench measures a broadcast to n contacts beside a floor that only speaks SMTP, and sends another one whose
// worker is killed, and which is paused and resumed, to a server that stores who got it.
func broadcastBench(ctx context.Context, log *slog.Logger, n int) error {
	w, err := newWorld(ctx, log, 1)
	if err != nil {
		return err
	}
	defer w.close()
	b := &broadcasting{post: &post{exchange: &exchange{world: w}}, contacts: n}
	if b.sink, err = w.startSink(ctx); err != nil {
		return err
	}
	if b.recorder, err = w.record(ctx); err != nil {
		return err
	}
	if b.api, err = w.start(ctx, "api", mailSetting); err != nil {
		return err
	}
	if err := b.people(ctx); err != nil {
		return err
	}
	if err := b.measured(ctx); err != nil {
		return err
	}
	return b.killed(ctx)
}

// people inserts the contacts, two at a domain, and what a broadcast needs.
func (b *broadcasting) people(ctx context.Context) error {
	org := b.world.orgs[0]
	for _, sql := range []string{
		`INSERT INTO plan_override (org_id, feature, value, source) VALUES ($1, 'contacts', 'null', 'override')`,
		fmt.Sprintf(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded,
				stage, created_at, updated_at)
			SELECT $1, uuidv7_at(now()), 'p' || n || '@d' || n / 2 || '.example', 'p' || n || '@d' || n / 2 ||
				'.example', 'Ada', 'Byron', 'byron', 'lead', now() - interval '1 day' + n * interval '10 ms', now()
			FROM generate_series(1, %d) n`, b.contacts),
		`INSERT INTO contact_score (org_id, contact_id, score, probability, version, confidence, announced, segments,
				scored_at)
			SELECT org_id, id, 0, 0, 'bench', 'prior', 0, '{}', now() FROM contact WHERE org_id = $1`,
	} {
		if _, err := b.admin.Exec(ctx, sql, org.org); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	if _, err := b.admin.Exec(ctx, `VACUUM ANALYZE`); err != nil {
		return err
	}
	cl := newClients(b.api.addr, 1)
	return cl.call(0, org.key, fasthttp.MethodPut, "/api/v1/org/sending", []byte(`{"postal_address":"1 High Street"}`),
		fasthttp.StatusOK, nil)
}

// schedule creates a broadcast to all contacts from a mailbox and schedules it for now.
func (b *broadcasting) schedule(ctx context.Context, address string) (path string, err error) {
	org, cl := b.world.orgs[0], newClients(b.api.addr, 1)
	box, err := b.mailbox(ctx, org.org, address)
	if err != nil {
		return "", err
	}
	var made struct{ ID id.ID }
	body := fmt.Appendf(nil, `{"name":"News","mailbox_id":%q,"filter":{"field":"stage","op":"eq","value":"lead"},
		"email":{"subject":"News for {{ contact.first_name }}",
		"text":"Good day {{ contact.first_name }}, we have looms.\n{{ unsubscribe_url }}"}}`, box)
	if err := cl.call(0, org.key, fasthttp.MethodPost, "/api/v1/broadcasts", body, fasthttp.StatusCreated,
		func(b []byte) error { return json.Unmarshal(b, &made) }); err != nil {
		return "", err
	}
	path = "/api/v1/broadcasts/" + made.ID.String()
	return path, b.turn(path, "/schedule")
}

// turn schedules, pauses or resumes a broadcast.
func (b *broadcasting) turn(path, how string) error {
	return newClients(b.api.addr, 1).call(0, b.world.orgs[0].key, fasthttp.MethodPost, path+how, []byte("{}"),
		fasthttp.StatusOK, nil)
}

// measured sends a broadcast and prints its rate, its processor time, and those of the floor.
func (b *broadcasting) measured(ctx context.Context) error {
	began := time.Now()
	if _, err := b.schedule(ctx, b.sink); err != nil {
		return err
	}
	var err error
	if b.worker, err = b.start(ctx, "worker", mailSetting); err != nil {
		return err
	}
	if err := b.know(ctx); err != nil {
		return err
	}
	before := b.usage(ctx)
	if err := b.over(ctx, nil); err != nil {
		return err
	}
	took := time.Since(began)
	used := b.usage(ctx).minus(before)
	b.worker.stop()
	var n int
	var marks float64
	if err := b.admin.QueryRow(ctx, `SELECT count(*), extract(epoch FROM max(marked_at) - min(marked_at)) FROM email
		WHERE status = 'sent'`).Scan(&n, &marks); err != nil {
		return err
	}
	fmt.Printf("\nbroadcast to %d contacts: %d sent in %.1f s, %.0f per second, %.1f s from the request to its end\n",
		b.contacts, n, marks, float64(n)/marks, took.Seconds())
	fmt.Printf("processor time a mail: %s\n", used.of(n))
	rate, cpu, err := b.bare(ctx, mailsAConnection)
	if err != nil {
		return err
	}
	fmt.Printf("the floor, only SMTP: %.0f per second, processor %.0f us a mail; of it %.2f\n", rate, cpu,
		float64(n)/marks/rate)
	verdict(os.Stdout, "each contact is sent to", n == b.contacts, strconv.Itoa(n))
	return nil
}

// killed sends a broadcast to the recorder and kills its worker in between. In the middle it is paused and resumed.
func (b *broadcasting) killed(ctx context.Context) error {
	b.recorder.await(nil)
	began := time.Now()
	path, err := b.schedule(ctx, b.recorder.address)
	if err != nil {
		return err
	}
	if b.worker, err = b.start(ctx, "worker", mailSetting); err != nil {
		return err
	}
	kills := 0
	err = b.over(ctx, func() error {
		stored, _ := b.recorder.count()
		if kills == broadcastKills || stored < (kills+1)*b.contacts/(broadcastKills+1) {
			return nil
		}
		kills++
		_ = b.worker.cmd.Process.Kill()
		<-b.worker.gone
		if kills == broadcastKills/2 {
			if err := b.turn(path, "/pause"); err != nil {
				return err
			}
			if err := b.turn(path, "/resume"); err != nil {
				return err
			}
		}
		b.worker, err = b.start(ctx, "worker", mailSetting)
		return err
	})
	if err != nil {
		return err
	}
	var sent, unknown, other int
	if err := b.admin.QueryRow(ctx, `SELECT count(*) FILTER (WHERE status = 'sent'),
		count(*) FILTER (WHERE status = 'unknown'), count(*) FILTER (WHERE status NOT IN ('sent', 'unknown'))
		FROM email WHERE broadcast_id = (SELECT id FROM broadcast ORDER BY id DESC LIMIT 1)`).
		Scan(&sent, &unknown, &other); err != nil {
		return err
	}
	all, doubled := b.recorder.count()
	fmt.Printf("\nkilled %d times, paused and resumed: %.1f s; %d sent, %d unknown, %d neither; the server has %d "+
		"mails\n",
		kills, time.Since(began).Seconds(), sent, unknown, other, all)
	verdict(os.Stdout, "no address twice", doubled == 0, strconv.Itoa(doubled))
	verdict(os.Stdout, "each address sent or unknown, and the server has each sent one",
		sent+unknown == b.contacts && other == 0 && all >= sent && all <= sent+unknown, strconv.Itoa(sent+unknown))
	return nil
}

// over waits until the last broadcast is sent, and calls between, which may be nil, meanwhile.
func (b *broadcasting) over(ctx context.Context, between func() error) error {
	for {
		var status string
		if err := b.admin.QueryRow(ctx, `SELECT status FROM broadcast ORDER BY id DESC LIMIT 1`).
			Scan(&status); err != nil {
			return err
		}
		if status == "sent" {
			return nil
		}
		if between != nil {
			if err := between(); err != nil {
				return err
			}
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("the broadcast is %s: %w", status, err)
		}
	}
}
