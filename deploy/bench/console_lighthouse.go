package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const lighthouse = "lighthouse@13.5.0"

// The aims of Lighthouse's categories, of 100.
var lighthouseAims = []struct {
	category string
	aim      float64
}{{"performance", 90}, {"accessibility", 100}, {"best-practices", 100}}

// consoleLighthouse prints what Lighthouse, fetched by npx, says of the list of contacts, with its settings for desktop
// computers. Without npx it says so and measures nothing.
func consoleLighthouse(ctx context.Context, b *chromium, at, email string) error {
	if at, _ := exec.LookPath("npx"); at == "" {
		fmt.Println("\nno npx: Lighthouse is left out")
		return nil
	}
	// Lighthouse opens a tab that shares the cookies of the browser's first one.
	//nolint:contextcheck // the tab's context is one of ctx
	if err := b.signInAt(b.ctx, at, email); err != nil {
		return err
	}
	scores := map[string][]float64{}
	for range 3 {
		got, err := b.lighthouse(ctx, at+contactsPage)
		if err != nil {
			return err
		}
		for name, category := range got.Categories {
			scores[name] = append(scores[name], 100*category.Score)
		}
		for _, fault := range got.faults() {
			fmt.Println("Lighthouse:", fault)
		}
	}
	for _, a := range lighthouseAims {
		s := spreadOf(scores[a.category])
		verdict(os.Stdout, fmt.Sprintf("Lighthouse, %s at least %.0f", a.category, a.aim), s.mid >= a.aim, s.String())
	}
	return nil
}

// judged is the part of Lighthouse's report that is read.
type judged struct {
	FinalURL   string `json:"finalDisplayedUrl"`
	Categories map[string]struct {
		Score float64
		Refs  []struct{ ID string } `json:"auditRefs"`
	}
	Audits map[string]struct {
		Score *float64
		Title string
	}
}

// faults returns the audits of accessibility and of best practices that failed.
func (j *judged) faults() (titles []string) {
	for _, name := range []string{"accessibility", "best-practices"} {
		for _, ref := range j.Categories[name].Refs {
			if audit := j.Audits[ref.ID]; audit.Score != nil && *audit.Score < 1 {
				titles = append(titles, audit.Title)
			}
		}
	}
	slices.Sort(titles)
	return titles
}

// lighthouse has Lighthouse load a page in the browser.
func (b *chromium) lighthouse(ctx context.Context, url string) (*judged, error) {
	active, err := os.ReadFile(filepath.Join(b.profile, "DevToolsActivePort"))
	if err != nil {
		return nil, err
	}
	port, _, _ := strings.Cut(string(active), "\n")
	cmd := exec.CommandContext(ctx, "npx", "--yes", lighthouse, url, "--port="+port, "--preset=desktop", "--quiet",
		"--output=json", "--disable-storage-reset", "--only-categories=performance,accessibility,best-practices",
		"--no-enable-error-reporting")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", lighthouse, err)
	}
	var got judged
	if err := json.Unmarshal(out, &got); err != nil {
		return nil, fmt.Errorf("read the report of %s: %w", lighthouse, err)
	}
	if got.FinalURL != url {
		return nil, fmt.Errorf("%s judged %s instead of %s", lighthouse, got.FinalURL, url)
	}
	return &got, nil
}
