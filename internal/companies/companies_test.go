package companies_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/funnelwork/funnelwork/internal/companies"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/record"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

func TestDomainsHaveOneForm(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"ACME.example": "acme.example", "acme.example.": "acme.example", "bücher.example": "xn--bcher-kva.example",
		"a.b.c.example": "a.b.c.example", " acme.example\n": "acme.example",
		"https://www.acme.example/about": "acme.example", "http://Acme.example": "acme.example",
		"HTTPS://WWW.Acme.example:8443/a/b?c=d#e": "acme.example", "//acme.example/": "acme.example",
		"www.acme.example": "acme.example", "acme.example/x": "acme.example", "acme.example?x=1": "acme.example",
		"acme.example:443": "acme.example", "acme.example./": "acme.example", "shop.acme.co.uk": "shop.acme.co.uk",
		"https://www.bücher.example/über": "xn--bcher-kva.example", "www.example": "www.example", "www.uk": "www.uk",
		"www.co.uk": "www.co.uk",
		"acme":      "", "": "", "a..b": "", "-a.example": "", "1.2.3.4": "", "a_b.example": "", "http://": "",
		"co.uk": "", "https://www.co.uk/": "www.co.uk", "com": "", "github.io": "", "https://co.uk/x": "",
		"ftp://acme.example": "", "acme.example:x": "", "https:///x": "", "me@acme.example": "", "acme example.com": "",
		"mailto:me@acme.example": "", "http://1.2.3.4/": "", "[::1]": "", "https://[::1]/": "",
	} {
		if got, ok := companies.Domain(in); ok != (want != "") || ok && got != want {
			t.Errorf("%q is %q (%v), want %q", in, got, ok, want)
		}
	}
}

// TestParallelBatchesMakeOneCompanyPerDomainAndPerName runs eight batches with the same rows in different orders.
func TestParallelBatchesMakeOneCompanyPerDomainAndPerName(t *testing.T) {
	t.Parallel()
	for _, domains := range []bool{true, false} {
		t.Run(fmt.Sprint("domains: ", domains), func(t *testing.T) {
			t.Parallel()
			parallelBatches(t, domains)
		})
	}
}

func parallelBatches(t *testing.T, domains bool) {
	t.Helper()
	db, org := testkit.DB(t), id.New()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		total = map[string]int{}
	)
	for w := range 8 {
		wg.Go(func() {
			var rows []companies.Upsert
			for n := range 40 {
				n = (n*7 + w*13) % 40
				p := companies.Patch{Name: wire.Some(fmt.Sprint("Firm ", n)), Phone: wire.Some(fmt.Sprint(w))}
				if domains {
					p.Domain = wire.Some(fmt.Sprintf("Firm%d.example", n))
				}
				rows = append(rows, companies.Upsert{Patch: p})
			}
			var (
				out     []record.Outcome
				changed []companies.Change
			)
			err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) (err error) {
				out, changed, err = companies.UpsertAll(t.Context(), tx, rows)
				return err
			})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, o := range out {
				total[o.Result]++
			}
			for i := range changed {
				for _, e := range companies.Events(&changed[i]) {
					total[e.Type()]++
				}
			}
		})
	}
	wg.Wait()
	var n, words int
	if err := testkit.Pgx(t, db.URL).QueryRow(t.Context(),
		`SELECT (SELECT count(*) FROM company WHERE org_id = $1), (SELECT count(DISTINCT company_id)
			FROM company_word WHERE org_id = $1)`, org).Scan(&n, &words); err != nil {
		t.Fatal(err)
	}
	if n != 40 {
		t.Errorf("%d companies, want 40", n)
	}
	if words != 40 {
		t.Errorf("%d companies with words, want 40", words)
	}
	for result, want := range map[string]int{
		record.Created: 40, record.Updated: 7 * 40, "company.created": 40, "company.updated": 7 * 40,
	} {
		if total[result] != want {
			t.Errorf("%d times %s, want %d", total[result], result, want)
		}
	}
}
