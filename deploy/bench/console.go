package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"

	"github.com/funnelwork/funnelwork/internal/id"
)

const (
	consoleRounds   = 9
	consolePassword = "bench-console-1"
	contactsPage    = "/app/contacts"
	scrolledRows    = 10_000
)

// consoleScreens are the screens of the console beside the list of contacts.
var consoleScreens = []string{
	"/app/home", "/app/companies", "/app/deals", "/app/tasks", "/app/settings/profile", "/app/settings/org",
	"/app/settings/members", "/app/settings/billing", "/app/settings/audit", "/app/settings/fields",
	"/app/settings/pipelines", "/app/settings/jobs", "/app/settings/integrations/webhooks",
	"/app/settings/integrations/webhooks/new", "/app/settings/integrations/deliveries",
	"/app/settings/integrations/events", "/app/settings/integrations/keys",
}

// consoleBench opens the console in Chromium, signed in to the big org of the crm world and to one of its small orgs,
// beside a page of the same address space that has the same number of rows and no script.
func consoleBench(ctx context.Context, log *slog.Logger, n int) error {
	c, err := openCRM(ctx, log, n)
	if err != nil {
		return err
	}
	defer c.close()
	// The stored world has signing keys that are sealed with the keys of an earlier run's home.
	if _, err := c.admin.Exec(ctx, `DELETE FROM signing_key`); err != nil {
		return err
	}
	people := []string{"big-" + id.New().String() + "@bench.example", "small-" + id.New().String() + "@bench.example"}
	for i, email := range people {
		if err := c.person(ctx, email, c.orgs[i]); err != nil {
			return err
		}
	}
	floor := serveRows(50, scrolledRows)
	defer floor.Close()
	b, err := startChromium(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	at := "http://" + c.api.addr
	big, err := b.signIn(at, people[0])
	if err != nil {
		return err
	}
	b.console = big
	small, err := b.signIn(at, people[1])
	if err != nil {
		return err
	}
	static, err := b.tab()
	if err != nil {
		return err
	}
	if err := consoleSizes(ctx, b, at); err != nil {
		return err
	}
	if err := consoleLighthouse(ctx, b, at, people[0]); err != nil {
		return err
	}
	if err := consoleLoads(b, []shown{
		{"static rows", static, floor.URL + "/50"},
		{"500 contacts", small, at + contactsPage},
		{fmt.Sprintf("%d contacts", n), big, at + contactsPage},
	}); err != nil {
		return err
	}
	return consoleScroll(b, []shown{
		{"static rows", static, fmt.Sprintf("%s/%d", floor.URL, scrolledRows)},
		{fmt.Sprintf("%d contacts", n), big, at + contactsPage},
	})
}

// shown is a page in a tab.
type shown struct {
	name string
	tab  context.Context //nolint:containedctx // chromedp's handle of a tab
	url  string
}

// person creates a person with consolePassword in an org.
func (c *crm) person(ctx context.Context, email string, org caller) error {
	//nolint:gosec // the binary was built by this process
	cmd := exec.CommandContext(ctx, c.binary, "user", "create", "--email", email, "--password", consolePassword,
		"--org-id", org.org.String(), "--role", "admin")
	cmd.Env = append(os.Environ(), "DATABASE_URL="+c.postgres.URL, "REDIS_URL="+c.redis.URL,
		"FUNNELWORK_HOME="+c.dir+"/home")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("create a person: %w: %s", err, out)
	}
	return nil
}

// consoleSizes prints what the first load and each further screen fetch.
func consoleSizes(ctx context.Context, b *chromium, at string) error {
	first, err := b.scripts(at + contactsPage) //nolint:contextcheck // the tab's context is one of ctx
	if err != nil {
		return err
	}
	have := map[string]bool{}
	total, err := gzipSize(ctx, first, have)
	if err != nil {
		return err
	}
	fmt.Printf("\njs and css of a load of the contacts up to the first content, gzip: %.1f kB in %d files\n",
		float64(total)/1000, len(have))
	most, which := 0, ""
	for _, path := range consoleScreens {
		files, err := b.scripts(at + path) //nolint:contextcheck // as above
		if err != nil {
			return err
		}
		loaded := map[string]bool{}
		for name := range have {
			loaded[name] = true
		}
		size, err := gzipSize(ctx, files, loaded)
		if err != nil {
			return err
		}
		if size > most {
			most, which = size, path
		}
	}
	fmt.Printf("the most that a further screen fetches: %.1f kB, %s\n", float64(most)/1000, which)
	verdict(os.Stdout, "first load at most 160 kB, each further screen at most 60 kB",
		total <= 160_000 && most <= 60_000, fmt.Sprintf("%.1f and %.1f kB", float64(total)/1000, float64(most)/1000))
	return nil
}

// consoleLoads reloads the pages in turns, and prints when the largest paint and the first rows come.
func consoleLoads(b *chromium, pages []shown) error {
	paints, rows := make([][]float64, len(pages)), make([][]float64, len(pages))
	for round := range consoleRounds + 1 {
		for i, p := range pages {
			got, err := b.load(p.tab, p.url)
			if err != nil {
				return fmt.Errorf("load %s: %w", p.name, err)
			}
			if round > 0 { // the first one fills the cache
				paints[i], rows[i] = append(paints[i], got.Paint), append(rows[i], got.Rows)
			}
		}
	}
	fmt.Printf("\nwarm reload of a list, ms: median [quartiles] of %d\n", consoleRounds)
	for i, p := range pages {
		fmt.Printf("%-20s largest paint %s, first rows %s\n", p.name, spreadOf(paints[i]), spreadOf(rows[i]))
	}
	last := len(pages) - 1
	ratio := make([]float64, consoleRounds)
	for i := range ratio {
		ratio[i] = rows[last][i] / rows[last-1][i]
	}
	verdict(os.Stdout, "the largest paint of a warm reload at most 800 ms", spreadOf(paints[last]).mid <= 800,
		spreadOf(paints[last]).String())
	verdict(os.Stdout, "first rows of a big org at most 1.5 times those of a small one", spreadOf(ratio).mid <= 1.5,
		spreadOf(ratio).String())
	return nil
}

// consoleScroll scrolls over 10,000 rows, and prints how long the frames took.
func consoleScroll(b *chromium, pages []shown) error {
	p95s, most := make([][]float64, len(pages)), make([]int, len(pages))
	for range 3 {
		for i, p := range pages {
			if _, err := b.load(p.tab, p.url); err != nil {
				return err
			}
			got, err := b.scroll(p.tab)
			if err != nil {
				return fmt.Errorf("scroll %s: %w", p.name, err)
			}
			if got.Reached < scrolledRows-1 {
				return fmt.Errorf("%s: row %d was reached in %d frames, want %d", p.name, got.Reached, len(got.Gaps),
					scrolledRows)
			}
			slices.Sort(got.Gaps)
			p95s[i], most[i] = append(p95s[i], quantile(got.Gaps, .95)), max(most[i], got.Most)
		}
	}
	fmt.Printf("\nscrolling %d rows, p95 of the frames, ms: median [quartiles] of 3\n", scrolledRows)
	for i, p := range pages {
		fmt.Printf("%-20s %s, at most %d rows in the page\n", p.name, spreadOf(p95s[i]), most[i])
	}
	last := len(pages) - 1
	verdict(os.Stdout, "p95 of the frames at most 33 ms, at most 80 rows in the page",
		spreadOf(p95s[last]).mid <= 33 && most[last] <= 80,
		fmt.Sprintf("%s ms, %d rows", spreadOf(p95s[last]), most[last]))
	return nil
}
