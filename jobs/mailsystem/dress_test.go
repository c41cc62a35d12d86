package mailsystem_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/billing/plans"
	"github.com/funnelwork/funnelwork/internal/branding"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
	"github.com/funnelwork/funnelwork/jobs/entitlementsync"
	"github.com/funnelwork/funnelwork/jobs/mailsystem"
)

var update = flag.Bool("update", false, "write the golden files anew")

// everyMail returns one of each mail that the platform sends.
func everyMail(to string) []mail.Message {
	day := time.Date(2026, 11, 20, 9, 5, 0, 0, time.UTC)
	w := mail.Webhook{Host: "example.com", Description: "shop", Events: 23, Since: day, Percent: 90}
	return []mail.Message{
		mail.Reset(to, "https://crm.test", "token"), mail.Verify(to, "https://crm.test", "token"),
		mail.Invite(to, "https://crm.test", "token", "Client"),
		mail.AccountsLost(to, "X", []string{"one", "two"}), mail.AccountsEnd(to, "X", []string{"one"}, day),
		mail.WebhookFailing(to, w), mail.WebhookDisabled(to, w, false), mail.WebhookDisabled(to, w, true),
	}
}

// TestEveryMailSpeaksInTheNameThatThePlanAllows compares with the golden files: every mail of an org with branding,
// under plans that hide the platform, that hide it without a name, and that do neither, before and after.
func TestEveryMailSpeaksInTheNameThatThePlanAllows(t *testing.T) {
	t.Parallel()
	o := &office{Database: testkit.DB(t), org: id.New(), box: testkit.Box(t)}
	person := id.New()
	err := o.System.Tx(t.Context(), o.org, func(tx *postgres.Tx) error {
		tx.Queue("INSERT INTO org (id, name) VALUES ($1, 'Test')", o.org)
		tx.Queue("INSERT INTO app_user (id, email, email_folded, last_org_id) VALUES ($1, 'Bob@example.com', "+
			"'bob@example.com', $2)", person, o.org)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	logo, err := branding.NewLogo("image/svg+xml",
		[]byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3 2"/>`))
	if err != nil {
		t.Fatal(err)
	}
	err = o.App.Tx(t.Context(), o.org, func(tx *postgres.Tx) error {
		whatever := func(*branding.Settings) error { return nil }
		if _, err := branding.SetLogo(t.Context(), tx, "https://crm.test", logo, whatever); err != nil {
			return err
		}
		_, err := branding.Update(t.Context(), tx, "https://crm.test", branding.Patch{
			Name: wire.Some("Acme"), HideBrand: wire.Some(true), SupportEmail: wire.Some("help@acme.test"),
			Colors: wire.Some(branding.ColorPatch{Primary: wire.Some("#8a1c4a")}),
		}, whatever)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		name  string
		state plans.State
	}{
		{"hidden", plans.State{Plan: "white_label_pro", Status: plans.Active}},
		{"unentitled", plans.State{Plan: "solo_pro", Status: plans.Active}},
		{"hides_alone", plans.State{Plan: "agency_growth", Status: plans.Active}},
		{"downgraded", plans.State{Plan: "white_label_pro", Status: plans.Canceled}},
	} {
		s.state.Interval, s.state.Quantity = "month", 1
		err := o.App.Tx(t.Context(), o.org, func(tx *postgres.Tx) error {
			_, err := entitlementsync.Standard().Set(t.Context(), tx, s.state)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, m := range everyMail("bob@example.com") {
			all.WriteString(o.sent(t, o.org, m))
		}
		// To a person without an org.
		all.WriteString(o.sent(t, id.ID{}, mail.Reset("bob@example.com", "https://crm.test", "token")))
		text := strings.ReplaceAll(all.String(), "=\n", "") // quoted-printable may split names
		own, platform := s.name == "hidden", s.name == "unentitled" || s.name == "downgraded"
		if strings.Contains(text, "Acme") != own || strings.Contains(strings.ToLower(text), "funnelwork") != platform {
			t.Errorf("%s: the wrong names are in\n%s", s.name, text)
		}
		golden(t, s.name+".txt", all.String())
	}
}

// sent returns an org's mail as received.
func (o *office) sent(t *testing.T, org id.ID, m mail.Message) string {
	t.Helper()
	var job id.ID
	write := func(tx *postgres.Tx) error {
		letter, err := mail.Write(tx, o.box, m)
		if err != nil {
			return err
		}
		return mailsystem.Kind.Add(t.Context(), tx, mailsystem.Args{Mail: letter})
	}
	if err := o.App.Tx(t.Context(), org, write); err != nil {
		t.Fatal(err)
	}
	o.scan(t, `SELECT id FROM job WHERE kind = 'mail.system'`, &job)
	addr, lines := listen(t)
	out, err := mail.NewSMTP("smtp://"+addr+"?tls=none", "Funnelwork <noreply@crm.test>")
	if err != nil {
		t.Fatal(err)
	}
	jobs := store.New(o.App, o.System)
	run, err := jobs.Claim(t.Context(), org, job)
	if err != nil {
		t.Fatal(err)
	}
	work := mailsystem.Job{
		DB: o.App, Box: o.box, SMTP: out, System: o.System, PublicURL: "https://crm.test",
		Brands: branding.NewResolver(o.App, branding.ByPlan(plans.NewService(o.App, nil).Of)),
	}
	if err := mailsystem.Kind.Handle(work.Work).Call(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if err := jobs.Finish(t.Context(), run, store.Completion{Outcome: store.Done}); err != nil {
		t.Fatal(err)
	}
	var kept []string
	boundary := ""
	for line := range strings.SplitSeq(<-lines, "\n") {
		if _, b, ok := strings.Cut(line, "boundary="); ok {
			boundary = strings.Trim(b, `"; `)
		}
		if strings.HasPrefix(line, "Date:") || strings.HasPrefix(line, "Message-ID:") ||
			strings.HasPrefix(line, "X-Mailer") || strings.HasPrefix(line, "User-Agent") {
			continue
		}
		if boundary != "" {
			line = strings.ReplaceAll(line, boundary, "BOUNDARY")
		}
		kept = append(kept, strings.TrimRight(line, "\r"))
	}
	return fmt.Sprintf("===== of %v\n%s\n", map[bool]string{true: "a person", false: "the org"}[org.IsZero()],
		strings.Join(kept, "\n"))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; look at the change, then run with -update (-want +got):\n%s", path, diff)
	}
}
