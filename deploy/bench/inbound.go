package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/id"
)

// answers has the emails that are answered, one after the other.
type answers struct {
	ids   []id.ID
	paths []string // the inbound address of the mailbox of each

	mu    sync.Mutex
	begun map[id.ID]time.Time // when the request with the answer began
}

// replies measures how long it takes from the beginning of the request that brings a reply until email.replied is
// committed, with what it stops. Load, API, worker, Postgres and Redis share the machine.
func replies(ctx context.Context, log *slog.Logger) error {
	const (
		connections, rate = 16, 50
		length            = 40 * time.Second
		warm              = 500
	)
	w, err := newWorld(ctx, log, 40)
	if err != nil {
		return err
	}
	defer w.close()
	api, err := w.start(ctx, "api", "FUNNELWORK_RATE_LIMIT=off")
	if err != nil {
		return err
	}
	defer api.stop()
	worker, err := w.start(ctx, "worker")
	if err != nil {
		return err
	}
	defer worker.stop()
	n := warm + int(rate*length/time.Second)
	a, err := w.answers(ctx, n+connections)
	if err != nil {
		return err
	}
	seen := make(chan map[id.ID]time.Time, 1)
	watched, stop := context.WithCancel(ctx)
	defer stop()
	conn, err := pgx.Connect(ctx, w.postgres.URL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	go func() { seen <- watch(watched, conn, n) }()
	cl := newClients(api.addr, connections)
	send := func(from int) func(worker, i int) error {
		return func(worker, i int) error { return a.send(cl, worker, from+i) }
	}
	if _, err := open(ctx, 2*rate, warm*time.Second/(2*rate), connections, send(0)); err != nil {
		return err
	}
	taken, err := open(ctx, rate, length, connections, send(warm))
	if err != nil {
		return err
	}
	var at map[id.ID]time.Time
	select {
	case at = <-seen:
	case <-time.After(time.Minute):
		stop()
		at = <-seen
	}
	var took []time.Duration
	lost := 0
	for i, email := range a.ids[:n] {
		begun, sent := a.begun[email]
		switch done, ok := at[email]; {
		case !sent || i < warm:
		case !ok:
			lost++
		default:
			took = append(took, done.Sub(begun))
		}
	}
	slices.Sort(took)
	percentiles(fmt.Sprintf("replies at %d per second: answer to the request", rate), taken)
	percentiles("request to email.replied", took)
	p99 := quantile(took, .99)
	verdict(os.Stdout, "p99 at most 2 s, none lost", p99 <= 2*time.Second && lost == 0,
		fmt.Sprintf("%s, %d lost of %d", short(p99), lost, len(took)+lost))
	return nil
}

// watch returns when the reply to each email was first seen to be committed, once n were or ctx has ended. It looks
// every ten milliseconds.
func watch(ctx context.Context, conn *pgx.Conn, n int) map[id.ID]time.Time {
	at := make(map[id.ID]time.Time, n)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for len(at) < n {
		select {
		case <-ctx.Done():
			return at
		case <-tick.C:
		}
		rows, err := conn.Query(ctx, `SELECT id FROM email WHERE replied_at > now() - interval '1 minute'`)
		if err != nil {
			return at
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
		if err != nil {
			return at
		}
		now := time.Now()
		for _, email := range found {
			if _, ok := at[email]; !ok {
				at[email] = now
			}
		}
	}
	return at
}

// send posts the answer to the i-th email.
func (a *answers) send(cl clients, worker, i int) error {
	if i >= len(a.ids) {
		return errors.New("there are too few emails")
	}
	email := a.ids[i]
	body := fmt.Appendf(nil, "From: %[1]s@example.com\r\nTo: box@shop.example\r\nMessage-ID: <%[1]s@example.com>\r\n"+
		"In-Reply-To: <%[1]s@shop.example>\r\nSubject: Re: Hello\r\n\r\nYes, please call me on Tuesday.\r\n\r\n"+
		"> Shall we talk?\r\n", email)
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.Header.SetMethod(fasthttp.MethodPost)
	req.Header.SetContentType("message/rfc822")
	req.SetRequestURI("http://" + cl[worker].Addr + a.paths[i])
	req.SetBody(body)
	a.mu.Lock()
	a.begun[email] = time.Now()
	a.mu.Unlock()
	if err := cl[worker].Do(req, res); err != nil {
		return err
	}
	if res.StatusCode() != fasthttp.StatusAccepted {
		return fmt.Errorf("intake: %d: %.200s", res.StatusCode(), res.Body())
	}
	return nil
}

// answers inserts n emails as they are once they were sent, each to a contact of its own, spread over the orgs.
func (w *world) answers(ctx context.Context, n int) (*answers, error) {
	a := &answers{begun: make(map[id.ID]time.Time, n)}
	boxes, paths := make([]id.ID, len(w.orgs)), make([]string, len(w.orgs))
	for i, who := range w.orgs {
		boxes[i] = id.New()
		token := base64.RawURLEncoding.EncodeToString(append(who.org[:], make([]byte, 20)...))
		sum := sha256.Sum256([]byte(token))
		paths[i] = "/inbound/email/" + token
		if _, err := w.admin.Exec(ctx, `INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded,
				from_domain, status, inbound_hash, created_at, updated_at) VALUES ($1, $2, 'Box', 'sandbox',
				'box@shop.example', 'box@shop.example', 'shop.example', 'active', $3, now(), now())`, who.org,
			boxes[i], sum[:]); err != nil {
			return nil, err
		}
	}
	for i := range n {
		email, at := id.New(), i%len(w.orgs)
		a.ids, a.paths = append(a.ids, email), append(a.paths, paths[at])
		if _, err := w.admin.Exec(ctx, `
			WITH c AS (INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded,
				stage, created_at, updated_at) VALUES ($1, $2, $4, $4, 'Ada', 'L', 'l', 'lead', now(), now()))
			INSERT INTO email (org_id, id, mailbox_id, contact_id, thread_id, purpose, subject, to_email, to_domain,
				message_id, message_hash, status, due_at, marked_at, sent_at, created_at, updated_at)
			VALUES ($1, $2, $3, $2, $2, 'personal', 'Hello', $4, 'example.com', $5,
				substring(sha256(convert_to($5, 'UTF8')) FROM 1 FOR 16), 'sent', now(), now(), now(), now(), now())`,
			w.orgs[at].org, email, boxes[at], email.String()+"@example.com", email.String()+"@shop.example",
		); err != nil {
			return nil, err
		}
	}
	_, err := w.admin.Exec(ctx, `ANALYZE`)
	return a, err
}
