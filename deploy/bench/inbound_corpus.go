package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/inbound/classify"
	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// labels is the file of a corpus that says what its reports are: columns file, reason, hard and others, by tabs.
const labels = "sisimai.tsv"

// labelled is what a corpus says of a report: the reason of each recipient, and whether it is a hard bounce.
type labelled struct {
	reasons []string
	hard    bool
}

// addressFault has the reasons of sisimai that are the fault of the address, or may be: filtered is how servers refuse
// an address after the text of a mail, and suspend is an account that is closed.
var addressFault = []string{"userunknown", "hostunknown", "hasmoved", "notaccept", "filtered", "suspend"}

// noReports has the files of flufl's set that its tests expect nothing of: an automatic reply, and a person's answer.
var noReports = []string{"qmail_08.txt", "groupwise_03.txt"}

// reportCount is what the reports of one folder came to.
type reportCount struct {
	mails, right, hard, hardFound, blamed int
}

// reports measures the classes and the kinds of bounces of the mails in the folder reports of a corpus. Mails of a
// folder whose name ends in -not are no reports.
func reports(dir string) func(context.Context, *slog.Logger) error {
	return func(context.Context, *slog.Logger) error {
		known, err := readLabels(filepath.Join(dir, labels))
		if err != nil {
			return err
		}
		found := map[string]*reportCount{}
		err = filepath.WalkDir(filepath.Join(dir, "reports"), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			raw, err := os.ReadFile(path) //nolint:gosec // the caller names the folder
			if err != nil {
				return err
			}
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			folder := filepath.Dir(name)
			if found[folder] == nil {
				found[folder] = &reportCount{}
			}
			found[folder].add(filepath.ToSlash(name), raw, known)
			return nil
		})
		if err != nil {
			return err
		}
		return printReports(found)
	}
}

func printReports(found map[string]*reportCount) error {
	if len(found) == 0 {
		return errors.New("the corpus has no folder reports with mails")
	}
	for _, folder := range slices.Sorted(maps.Keys(found)) {
		c := found[folder]
		least := 97
		if strings.Contains(folder, "sisimai") {
			least = 99
		}
		share := float64(c.right) * 100 / float64(c.mails)
		verdict(os.Stdout, fmt.Sprintf("%s: class right of at least %d %%, nobody blamed", folder, least),
			share >= float64(least) && c.blamed == 0, fmt.Sprintf("%.1f %% of %d, %d of %d hard ones found, %d blamed",
				share, c.mails, c.hardFound, c.hard, c.blamed))
	}
	return nil
}

// add counts one mail, and prints its name if the result is not what the corpus says.
func (c *reportCount) add(name string, raw []byte, known map[string]labelled) {
	m := parse.Parse(raw)
	r := classify.Of(m)
	label, isLabelled := known[name]
	want := classify.Bounce
	switch {
	case strings.HasSuffix(filepath.Dir(name), "-not"), slices.Contains(noReports, filepath.Base(name)),
		!isLabelled && strings.HasPrefix(filepath.Base(name), "rfc3834-"):
		want = ""
	case slices.Equal(label.reasons, []string{"delivered"}):
		want = classify.DeliveryReport
	case slices.Contains(label.reasons, "feedback"):
		want = classify.Complaint
	}

	right := r.Class == want
	if want == "" {
		right = r.Class != classify.Bounce && r.Class != classify.Complaint
	}
	if want == classify.Complaint { // sisimai counts what is filed, and opt-outs, as feedback
		right = right || r.Class == classify.Unsubscribe ||
			r.Class == classify.List && m.Feedback != nil && m.Feedback.Type != "abuse"
	}
	c.mails++
	if right {
		c.right++
	} else {
		fmt.Printf("  %s: class %s %s, want %s\n", name, r.Class, r.Bounce, want)
	}
	if !isLabelled || want != classify.Bounce {
		return
	}

	isFault := func(reason string) bool { return slices.Contains(addressFault, reason) }
	isHard := r.Class == classify.Bounce && r.Bounce == classify.Hard ||
		slices.ContainsFunc(r.Failures, func(f classify.Failure) bool { return f.Kind == classify.Hard })
	switch {
	case label.hard && isHard:
		c.hardFound++
	case label.hard:
		fmt.Printf("  %s: %s, want hard (%s, code %s: %.120s)\n", name, r.Bounce, label.reasons, r.Code, r.Diagnostic)
	case isHard && !slices.ContainsFunc(label.reasons, isFault):
		c.blamed++
		fmt.Printf("  %s: hard, want not (%s, code %s: %.120s)\n", name, label.reasons, r.Code, r.Diagnostic)
	}
	if label.hard {
		c.hard++
	}
}

// readLabels reads the labels of a corpus; a corpus without them has none.
func readLabels(path string) (map[string]labelled, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	r := csv.NewReader(file)
	r.Comma, r.LazyQuotes = '\t', true
	rows, err := r.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, err
	}

	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	out := map[string]labelled{}
	for _, row := range rows[1:] {
		l := out[row[column["file"]]]
		l.reasons = append(l.reasons, row[column["reason"]])
		l.hard = l.hard || row[column["hard"]] == "1"
		out[row[column["file"]]] = l
	}
	return out, nil
}
