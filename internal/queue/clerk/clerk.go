// Package clerk is what `funnelwork jobs` does: each of its types is a command with its flags, whose Run asks an
// Operator and prints the answer, as a table or, for programs, as one JSON object per line.
package clerk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
)

// Clerk asks and prints.
type Clerk struct {
	Operator *queue.Operator
	// Redrive adds the job that works off a redrive.
	Redrive func(context.Context, *postgres.Tx, id.ID) error
	Actor   string // for the audit
	JSON    bool
	Out     io.Writer
}

// Opener makes a Clerk, lets it do one thing, and gives back what it took.
type Opener func(context.Context, func(*Clerk) error) error

func (c *Clerk) by(reason string) queue.By { return queue.By{Actor: c.Actor, Reason: reason} }

// table writes rows: as JSON what they are, else in a table what cells says of each.
func table[T any](c *Clerk, head string, rows []T, cells func(T) []any) error {
	if c.JSON {
		e := json.NewEncoder(c.Out)
		e.SetEscapeHTML(false)
		for _, r := range rows {
			if err := e.Encode(r); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ReplaceAll(head, " ", "\t"))
	for _, r := range rows {
		for i, cell := range cells(r) {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, text(cell))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// text is a cell: one line, nothing that a terminal would obey.
func text(v any) string {
	switch v := v.(type) {
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05Z")
	case *time.Time:
		if v == nil {
			return "-"
		}
		return text(*v)
	}
	s := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, fmt.Sprint(v))
	if s == "" {
		return "-"
	}
	return s
}

// Fit are the flags that say which jobs are meant.
type Fit struct {
	Kind   string `help:"Kind of job."`
	Lane   string `help:"Lane: critical, default, webhooks or bulk."`
	Org    string `help:"Id of the org."`
	Error  string `help:"A part of the last error."`
	After  string `help:"Died, or were added, at this time or later: as in RFC 3339, or so long ago (24h)."`
	Before string `help:"Died, or were added, before this time."`
}

func (f Fit) filter(state string) (queue.Filter, error) {
	out := queue.Filter{State: queue.State(state), Kind: f.Kind, Lane: queue.Lane(f.Lane), Error: f.Error}
	if f.Org != "" {
		org, err := id.Parse(f.Org)
		if err != nil {
			return out, fmt.Errorf("org: %w", err)
		}
		out.Org = &org
	}
	for _, t := range []struct {
		flag, text string
		to         **time.Time
	}{{"after", f.After, &out.After}, {"before", f.Before, &out.Before}} {
		if t.text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, t.text)
		if err != nil {
			ago, bad := time.ParseDuration(t.text)
			if bad != nil {
				return out, fmt.Errorf("%s: neither a time nor a duration: %q", t.flag, t.text)
			}
			at = time.Now().Add(-ago)
		}
		*t.to = &at
	}
	return out, out.Check()
}

// find locates jobs by the ids that were typed.
func (c *Clerk) find(ctx context.Context, texts []string) ([]queue.Key, error) {
	ids := make([]id.ID, len(texts))
	for i, t := range texts {
		var err error
		if ids[i], err = id.Parse(t); err != nil {
			return nil, fmt.Errorf("%q is no id: %w", t, err)
		}
	}
	found, err := c.Operator.Locate(ctx, ids...)
	if err != nil {
		return nil, err
	}
	at := make(map[id.ID]queue.Key, len(found))
	for _, k := range found {
		at[k.ID] = k
	}
	keys := make([]queue.Key, len(ids))
	for i, job := range ids {
		if keys[i] = at[job]; keys[i].ID.IsZero() {
			keys[i].ID = job // of nobody: the act answers that it is gone
		}
	}
	return keys, nil
}

type outcome struct {
	ID     id.ID        `json:"id"`
	Org    id.ID        `json:"org_id"`
	Result queue.Result `json:"result"`
}

// act does something to the jobs that were typed, and fails where it was not done to all.
func (c *Clerk) act(ctx context.Context, reason string, texts []string, do func(context.Context, queue.By, ...queue.Key) ([]queue.Result, error)) error {
	keys, err := c.find(ctx, texts)
	if err != nil {
		return err
	}
	results, err := do(ctx, c.by(reason), keys...)
	if err != nil {
		return err
	}
	rows, failed := make([]outcome, len(keys)), 0
	for i, k := range keys {
		rows[i] = outcome{k.ID, k.Org, results[i]}
		if results[i] != queue.Acted {
			failed++
		}
	}
	if err := table(c, "JOB RESULT", rows, func(o outcome) []any { return []any{o.ID, said(o.Result)} }); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("not done to %d of %d jobs", failed, len(rows))
	}
	return nil
}

// said is a result in words.
func said(r queue.Result) string {
	switch r {
	case queue.Held:
		return "a run has it: left alone"
	case queue.Gone:
		return "there is no such job"
	case queue.Unfit:
		return "it is dead already"
	case queue.Acted:
	}
	return "done"
}

var errNone = errors.New("there is no such job")
