package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/funnelwork/funnelwork/internal/contacts/wordindex"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// indexWords builds the word index of the big org anew, by the job's own steps without the pauses between them. The
// sections put contacts back by plain SQL without triggers, so that an index from before would miss some.
func (c *crm) indexWords(ctx context.Context) error {
	for _, table := range []string{"word_index", "word_index_mark", "word_index_page"} {
		if _, err := c.admin.Exec(ctx, "TRUNCATE "+table); err != nil {
			return err
		}
	}
	open := func(role string) (*postgres.DB, error) {
		return postgres.Open(ctx, postgres.Options{URL: c.postgres.URL, Role: role, MaxConns: 1, Name: "bench"})
	}
	system, err := open(postgres.System)
	if err != nil {
		return err
	}
	defer system.Close()
	app, err := open(postgres.App)
	if err != nil {
		return err
	}
	defer app.Close()
	began := time.Now()
	if err := wordindex.SweepOrgs(ctx, system, min(c.contacts, wordindex.Large)); err != nil {
		return err
	}
	swept := time.Since(began)
	for ready := false; !ready; {
		if err := app.Tx(ctx, c.big.org, func(tx *postgres.Tx) error {
			return wordindex.Sync(ctx, tx, wordindex.Usual())
		}); err != nil {
			return err
		}
		err := c.admin.QueryRow(ctx, "SELECT ready FROM word_index WHERE org_id = $1", c.big.org).Scan(&ready)
		if err != nil {
			return err
		}
	}
	took := time.Since(began)
	var size string
	err = c.admin.QueryRow(ctx, "SELECT pg_size_pretty(pg_total_relation_size('word_index_page'))").Scan(&size)
	fmt.Fprintf(os.Stderr, "word index of %s built in %s, of which %s to find the org\n",
		size, short(took), short(swept))
	return err
}
