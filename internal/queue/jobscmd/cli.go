// Package jobscmd implements `funnelwork jobs`. Each type is a command with its flags. Its Run calls an Operator and
// prints the result as a table or, for programs, as one JSON object per line.
package jobscmd

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
	"github.com/funnelwork/funnelwork/internal/queue/operator"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// CLI has what the commands need.
type CLI struct {
	Operator *operator.Operator
	// Redrive adds the job that processes a redrive.
	Redrive func(context.Context, *postgres.Tx, id.ID) error
	Actor   string // for the audit
	JSON    bool
	Out     io.Writer
}

// Opener makes a CLI, calls the function with it, and releases the CLI's resources.
type Opener func(context.Context, func(*CLI) error) error

func (c *CLI) by(r Reason) operator.By { return operator.By{Actor: c.Actor, Reason: string(r)} }

// table writes rows: as JSON, or as a table with the values of cells.
func table[T any](c *CLI, head string, rows []T, cells func(T) []any) error {
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

// text returns v as a table cell: one line without control characters.
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

// Fit is the flags of a filter.
type Fit struct {
	Kind   string `help:"Job kind."`
	Lane   string `help:"Lane: critical, default, webhooks, remote or bulk."`
	Org    string `help:"Org id."`
	Error  string `help:"Part of the last error."`
	After  string `help:"Died or added at or after this time (RFC 3339, or an age like 24h)."`
	Before string `help:"Died or added before this time (RFC 3339, or an age like 24h)."`
}

func (f Fit) filter(state string) (operator.Filter, error) {
	out := operator.Filter{State: operator.State(state), Kind: f.Kind, Lane: queue.Lane(f.Lane), Error: f.Error}
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
		at, err := wire.ParseTime(t.text)
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

// find returns the keys of the given ids.
func (c *CLI) find(ctx context.Context, texts []string) ([]operator.Key, error) {
	ids := make([]id.ID, len(texts))
	for i, t := range texts {
		var err error
		if ids[i], err = id.Parse(t); err != nil {
			return nil, fmt.Errorf("%q is not an id: %w", t, err)
		}
	}
	found, err := c.Operator.Locate(ctx, ids...)
	if err != nil {
		return nil, err
	}
	at := make(map[id.ID]operator.Key, len(found))
	for _, k := range found {
		at[k.ID] = k
	}
	keys := make([]operator.Key, len(ids))
	for i, job := range ids {
		if keys[i] = at[job]; keys[i].ID.IsZero() {
			keys[i].ID = job // unknown: the action returns Gone
		}
	}
	return keys, nil
}

type outcome struct {
	ID     id.ID           `json:"id"`
	Org    id.ID           `json:"org_id"`
	Result operator.Result `json:"result"`
}

// act calls do for the jobs with the given ids. It returns an error if do did not change all of them.
func (c *CLI) act(ctx context.Context, reason Reason, texts []string,
	do func(context.Context, operator.By, ...operator.Key) ([]operator.Result, error),
) error {
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
		if results[i] != operator.Acted {
			failed++
		}
	}
	if err := table(c, "JOB RESULT", rows, func(o outcome) []any { return []any{o.ID, said(o.Result)} }); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d jobs not changed", failed, len(rows))
	}
	return nil
}

// said describes a result.
func said(r operator.Result) string {
	switch r {
	case operator.Held:
		return "a run has it: left alone"
	case operator.Gone:
		return "there is no such job"
	case operator.Unfit:
		return "it is dead already"
	case operator.Acted:
	}
	return "done"
}

var errNone = errors.New("there is no such job")
