package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/funnelwork/funnelwork/internal/scoring/learn"
)

// school is the running service, with orgs that learn.
type school struct {
	w    *world
	base string
	used int // used orgs
}

// scorer measures what orgs learn from real outcomes through the product: contacts with custom fields by batch, deals
// that were won and lost, a training by the worker, and the scores of contacts with unseen outcomes. It compares, on
// the same examples, with the learner with an uninformative prior, and with the win rate alone.
func scorer(path string) func(context.Context, *slog.Logger) error {
	return func(ctx context.Context, log *slog.Logger) error {
		all, err := leads(path)
		if err != nil {
			return err
		}
		fmt.Printf("%d leads, %.1f %% of them won\n\n", len(all), 100*share(outcomes(all)))
		if err := firstOutcomes(ctx, all); err != nil {
			return err
		}
		w, err := newWorld(ctx, log, 64)
		defer w.close()
		if err != nil {
			return err
		}
		api, err := w.start(ctx, "api", "FUNNELWORK_RATE_LIMIT=off")
		if err != nil {
			return err
		}
		if _, err := w.start(ctx, "worker"); err != nil {
			return err
		}
		s := &school{w: w, base: "http://" + api.addr}
		if err := s.byTime(ctx, all); err != nil {
			return err
		}
		if err := s.folds(ctx, all); err != nil {
			return err
		}
		return s.curve(ctx, all)
	}
}

func share(won []bool) float64 {
	n := 0
	for _, y := range won {
		if y {
			n++
		}
	}
	return float64(n) / float64(len(won))
}

func (s *school) byTime(ctx context.Context, all []lead) error {
	cut := len(all) * 7 / 10
	got, err := s.teach(ctx, all[:cut], all[cut:])
	if err != nil {
		return err
	}
	m := learn.Measure(got, outcomes(all[cut:]))
	fmt.Printf("the first 70 %% foretell the rest\n%s", rowsOf(ctx, m, all[:cut], all[cut:]))
	verdictOf("AUC by time", m.AUC, 0.885, true)
	verdictOf("Brier by time", m.Brier, 0.133, false)
	return nil
}

func (s *school) folds(ctx context.Context, all []lead) error {
	r := rand.New(rand.NewPCG(1, 2))
	order := r.Perm(len(all))
	var (
		p, zero, flat []float64
		won           []bool
	)
	for k := range 5 {
		var seen, held []lead
		for i, j := range order {
			if i%5 == k {
				held = append(held, all[j])
			} else {
				seen = append(seen, all[j])
			}
		}
		got, err := s.teach(ctx, seen, held)
		if err != nil {
			return err
		}
		z, c := peers(ctx, seen, held)
		p, zero, flat, won = append(p, got...), append(zero, z...), append(flat, c...), append(won, outcomes(held)...)
	}
	m := learn.Measure(p, won)
	fmt.Printf("\neach fifth foretold by the other four\n%s%s%s", row("as shipped", m),
		row("zero mean", learn.Measure(zero, won)), row("a constant", learn.Measure(flat, won)))
	verdictOf("AUC by folds", m.AUC, 0.875, true)
	verdictOf("Brier by folds", m.Brier, 0.133, false)
	verdictOf("ECE by folds", m.ECE, 0.025, false)
	return nil
}

// curve measures learning from few outcomes: each figure is the mean of five draws, evaluated on the same 1,500 leads.
func (s *school) curve(ctx context.Context, all []lead) error {
	const draws = 5
	r := rand.New(rand.NewPCG(3, 4))
	order := r.Perm(len(all))
	held, pool := make([]lead, 0, 1500), make([]lead, 0, len(all))
	for i, j := range order {
		if i < 1500 {
			held = append(held, all[j])
		} else {
			pool = append(pool, all[j])
		}
	}
	fmt.Printf("\nlearning curve, mean of %d draws: AUC, and that of the zero mean\n", draws)
	for _, step := range []struct {
		n   int
		bar float64
	}{{30, 0.68}, {60, 0.75}, {120, 0}, {250, 0.83}, {500, 0}, {1000, 0.86}} {
		var auc, zero float64
		for range draws {
			seen := make([]lead, step.n)
			for i, j := range r.Perm(len(pool))[:step.n] {
				seen[i] = pool[j]
			}
			got, err := s.teach(ctx, seen, held)
			if err != nil {
				return err
			}
			z, _ := peers(ctx, seen, held)
			auc += learn.AUC(got, outcomes(held)) / draws
			zero += learn.AUC(z, outcomes(held)) / draws
		}
		fmt.Printf("  %5d outcomes  %.4f  %.4f\n", step.n, auc, zero)
		if step.bar > 0 {
			verdictOf(fmt.Sprintf("AUC at %d", step.n), auc, step.bar, true)
		}
	}
	return nil
}

// peers returns the predictions for held of the zero-mean prior and of the constant rate.
func peers(ctx context.Context, seen, held []lead) (zero, flat []float64) {
	model, _, err := learn.Train(ctx, "zero", examplesOf(seen), zeroMean(), learn.Incumbent{Model: zeroMean()})
	rate := share(outcomes(seen))
	for _, e := range examplesOf(held) {
		flat = append(flat, rate)
		if err != nil {
			zero = append(zero, rate)
			continue
		}
		zero = append(zero, model.Score(&e.Contact).Probability)
	}
	return zero, flat
}

func rowsOf(ctx context.Context, m learn.Metrics, seen, held []lead) string {
	zero, flat := peers(ctx, seen, held)
	won := outcomes(held)
	return row("as shipped", m) + row("zero mean", learn.Measure(zero, won)) + row("a constant",
		learn.Measure(flat, won))
}

func row(name string, m learn.Metrics) string {
	return fmt.Sprintf("  %-12s AUC %.4f  Brier %.4f  ECE %.4f  log loss %.4f\n", name, m.AUC, m.Brier, m.ECE,
		m.LogLoss)
}

func verdictOf(name string, got, bar float64, above bool) {
	word, sign := "ok", ">="
	if !above {
		sign = "<="
	}
	if above && got < bar || !above && got > bar {
		word = "MISS"
	}
	fmt.Printf("  %-4s %s: %.4f (wanted %s %.3f)\n", word, name, got, sign, bar)
}

// teach gives a new org the contacts of both, and deals for seen. It has the worker train, waits until every contact
// has a score of the trained model, and returns the probabilities of held, in order.
func (s *school) teach(ctx context.Context, seen, held []lead) ([]float64, error) {
	if s.used == len(s.w.orgs) {
		return nil, errors.New("no org left")
	}
	org := s.w.orgs[s.used]
	s.used++
	contacts := make(map[string]string, len(seen)+len(held)) // id by key
	for _, part := range chunked(append(append([]lead(nil), seen...), held...), 1000) {
		rows := make([]map[string]any, len(part))
		for i, l := range part {
			rows[i] = map[string]any{
				"email": l.key + "@leads.example", "first_name": "A", "last_name": "Lead",
				"attributes": l.values, "created_at": l.at,
			}
		}
		ids, err := s.batch(ctx, org, "/api/v1/crm/contacts/batch", "contacts", rows)
		if err != nil {
			return nil, err
		}
		for i, l := range part {
			contacts[l.key] = ids[i]
		}
	}
	for _, part := range chunked(seen, 1000) {
		rows := make([]map[string]any, len(part))
		for i, l := range part {
			status := "lost"
			if l.won {
				status = "won"
			}
			rows[i] = map[string]any{
				"name": "Course", "contact_id": contacts[l.key], "amount": 100,
				"currency": "EUR", "status": status, "created_at": l.at.Add(time.Hour),
				"closed_at": l.at.Add(48 * time.Hour),
			}
		}
		if _, err := s.batch(ctx, org, "/api/v1/crm/deals/batch", "deals", rows); err != nil {
			return nil, err
		}
	}
	if err := s.call(ctx, org, http.MethodPost, "/api/v1/ai/score-model/train", nil, nil); err != nil {
		return nil, err
	}
	version, err := s.version(ctx, org)
	if err != nil {
		return nil, err
	}
	return s.read(ctx, org, version, held)
}

// version waits until a training has ended and returns the active version. If the new model lost its comparison, that
// is still the prior.
func (s *school) version(ctx context.Context, org caller) (string, error) {
	for {
		var all struct {
			Data []struct {
				Version string `json:"version"`
				InUse   bool   `json:"in_use"`
			} `json:"data"`
		}
		if err := s.call(ctx, org, http.MethodGet, "/api/v1/ai/score-model/versions", nil, &all); err != nil {
			return "", err
		}
		if len(all.Data) > 0 {
			if all.Data[0].InUse {
				return all.Data[0].Version, nil
			}
			return "prior-1", nil
		}
		if err := rest(ctx, 50*time.Millisecond); err != nil {
			return "", err
		}
	}
}

func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// read returns the service's predictions for held, once all of its contacts are scored by the version.
func (s *school) read(ctx context.Context, org caller, version string, held []lead) ([]float64, error) {
	for {
		said, stale, err := s.scores(ctx, org, version)
		if err != nil {
			return nil, err
		}
		if stale == 0 {
			out := make([]float64, len(held))
			for i, l := range held {
				p, ok := said[l.key+"@leads.example"]
				if !ok {
					return nil, fmt.Errorf("lead %s is not in the list", l.key)
				}
				out[i] = p
			}
			return out, nil
		}
		if err := rest(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

func (s *school) scores(ctx context.Context, org caller, version string) (said map[string]float64, stale int,
	err error,
) {
	said = map[string]float64{}
	for cursor := ""; ; {
		var page struct {
			Data []struct {
				Email string `json:"email"`
				Score struct {
					Probability float64 `json:"probability"`
					Version     string  `json:"model_version"`
				} `json:"score"`
			} `json:"data"`
			Next *string `json:"next_cursor"`
		}
		if err := s.call(ctx, org, http.MethodGet, "/api/v1/crm/contacts?limit=200&cursor="+url.QueryEscape(cursor),
			nil, &page); err != nil {
			return nil, 0, err
		}
		for _, c := range page.Data {
			said[c.Email] = c.Score.Probability
			if c.Score.Version != version {
				return said, 1, nil
			}
		}
		if page.Next == nil {
			return said, 0, nil
		}
		cursor = *page.Next
	}
}

func chunked(all []lead, size int) (out [][]lead) {
	for len(all) > size {
		out, all = append(out, all[:size]), all[size:]
	}
	return append(out, all)
}

// batch sends rows and returns their ids. A rejected row is an error.
func (s *school) batch(ctx context.Context, org caller, path, name string, rows []map[string]any) ([]string, error) {
	var out struct {
		Data []struct {
			ID     string          `json:"id"`
			Result string          `json:"result"`
			Error  json.RawMessage `json:"error"`
		} `json:"data"`
	}
	if err := s.call(ctx, org, http.MethodPost, path, map[string]any{name: rows}, &out); err != nil {
		return nil, err
	}
	ids := make([]string, len(rows))
	for i, r := range out.Data {
		if r.Result != "created" {
			return nil, fmt.Errorf("%s: row %d: %s %s", path, i, r.Result, r.Error)
		}
		ids[i] = r.ID
	}
	return ids, nil
}

func (s *school) call(ctx context.Context, org caller, method, path string, body, into any) error {
	var sent io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, sent)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+org.key)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, res.Status, b[:min(len(b), 400)])
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(b, into)
}
