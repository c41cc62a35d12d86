package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// tracked is an email whose opens and clicks are tracked.
type tracked struct {
	org, email id.ID
	addresses  []string // paths of the pixel and of three links
}

// visits measures how many opens and clicks the API takes, each stored before its answer, beside bare inserts of a row
// each. Load, API, Postgres and Redis share the machine.
func visits(ctx context.Context, log *slog.Logger) error {
	const (
		connections, rate = 32, 3000
		length            = 5 * time.Second
	)
	w, err := newWorld(ctx, log, 100)
	if err != nil {
		return err
	}
	defer w.close()
	api, err := w.start(ctx, "api", "FUNNELWORK_PUBLIC_URL=https://bench.example")
	if err != nil {
		return err
	}
	defer api.stop()
	mails, err := w.tracked(ctx, api)
	if err != nil {
		return err
	}
	bare, err := (&house{world: w}).connect(ctx, connections, postgres.System)
	if err != nil {
		return err
	}
	defer bare.close(ctx)
	cl := newClients(api.addr, connections)
	n := make([]int, connections)
	visit := func(worker int) error {
		n[worker]++
		m := mails[(n[worker]*connections+worker)%len(mails)]
		i, want := n[worker]%len(m.addresses), fasthttp.StatusFound
		if i == 0 {
			want = fasthttp.StatusOK
		}
		return cl.call(worker, "", fasthttp.MethodGet, m.addresses[i], nil, want, nil)
	}
	cs := []contender{
		{name: "an insert of one hit, bare pgx", op: func(ctx context.Context, worker int) error {
			m := mails[worker%len(mails)]
			_, err := bare[worker].Exec(ctx, `INSERT INTO email_hit (org_id, id, email_id, link, at, signs, net)
				VALUES ($1, $2, $3, 1, now(), 0, '')`, m.org, id.New(), m.email)
			return err
		}},
		{name: "GET of a pixel or link", op: func(_ context.Context, worker int) error { return visit(worker) }},
	}
	results, err := match(ctx, cs, connections, 7, 400*time.Millisecond)
	if err != nil {
		return err
	}
	table(os.Stdout, fmt.Sprintf("opens and clicks, %d connections", connections), cs, results)
	most := perSecond(results[1]).mid
	verdict(os.Stdout, "at least 3,000 per second", most >= rate, fmt.Sprintf("%.0f", most))
	var took []time.Duration
	for round := range 3 {
		one, err := open(ctx, rate, length, connections, func(worker, _ int) error { return visit(worker) })
		if err != nil {
			return err
		}
		if round > 0 { // the first round warms up
			took = append(took, one...)
		}
	}
	slices.Sort(took)
	percentiles(fmt.Sprintf("%d per second", rate), took)
	p99 := quantile(took, .99)
	verdict(os.Stdout, "p99 at most 30 ms at 3,000 per second", p99 <= 30*time.Millisecond, short(p99))
	return nil
}

// tracked has each org send a tracked email, which nobody transmits.
func (w *world) tracked(ctx context.Context, api *process) ([]tracked, error) {
	if _, err := w.admin.Exec(ctx, `INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain,
			status, created_at, updated_at)
		SELECT id, gen_random_uuid(), 'Box', 'sandbox', 'a@shop.example', 'a@shop.example', 'shop.example', 'active',
			now(), now() FROM org WHERE id <> $1`, id.ID{}); err != nil {
		return nil, err
	}
	cl := newClients(api.addr, 1)
	all := make([]tracked, len(w.orgs))
	for i, who := range w.orgs {
		contact, err := cl.post(who, newMark())
		if err != nil {
			return nil, err
		}
		var box string
		if err := w.admin.QueryRow(ctx, `SELECT id::text FROM mailbox WHERE org_id = $1`, who.org).
			Scan(&box); err != nil {
			return nil, err
		}
		var mail struct {
			ID   id.ID
			HTML string
		}
		body := `{"contact_id":"` + contact + `","mailbox_id":"` + box + `","subject":"Hello",` +
			`"html":"<a href='https://a.example/1'>1</a><a href='https://a.example/2'>2</a>` +
			`<a href='https://a.example/3'>3</a>","tracking":{"opens":true,"clicks":true}}`
		if err := cl.call(0, who.key, fasthttp.MethodPost, "/api/v1/crm/emails", []byte(body), fasthttp.StatusCreated,
			func(b []byte) error { return json.Unmarshal(b, &mail) }); err != nil {
			return nil, err
		}
		all[i] = tracked{org: who.org, email: mail.ID, addresses: addressesIn(mail.HTML)}
		if len(all[i].addresses) != 4 {
			return nil, errors.New("the email is not tracked")
		}
	}
	return all, nil
}

// addressesIn returns the paths of the pixel and of the links that people see.
func addressesIn(document string) []string {
	out := []string{""}
	for _, part := range strings.Split(document, "/t/")[1:] {
		path, _, _ := strings.Cut(part, `"`)
		if strings.HasPrefix(path, "o/") {
			out[0] = "/t/" + path
		} else if len(out) < 4 {
			out = append(out, "/t/"+path)
		}
	}
	return out
}
