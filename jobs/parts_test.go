package jobs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs"
	"github.com/funnelwork/funnelwork/jobs/accountnotify"
	"github.com/funnelwork/funnelwork/jobs/accountwarn"
	"github.com/funnelwork/funnelwork/jobs/billingoverage"
	"github.com/funnelwork/funnelwork/jobs/billingprorationsync"
	"github.com/funnelwork/funnelwork/jobs/billingsettle"
	"github.com/funnelwork/funnelwork/jobs/mailsystem"
	"github.com/funnelwork/funnelwork/jobs/stripeevent"
	"github.com/funnelwork/funnelwork/jobs/webhooknotify"
)

// bare returns the handlers of a worker without billing and mail, by kind, and their log.
func bare(t *testing.T, db *testkit.Database, box *secret.Sealer) (map[string]queue.Handler, *bytes.Buffer) {
	t.Helper()
	var said bytes.Buffer
	all := map[string]queue.Handler{}
	for _, h := range jobs.All(jobs.Deps{
		App: db.App, System: db.System, Box: box, NoMail: true,
		Log: slog.New(slog.NewTextHandler(&said, nil)),
	}) {
		all[h.Kind] = h
	}
	return all, &said
}

// call runs a kind's handler with args.
func call(t *testing.T, h queue.Handler, org id.ID, args any) error {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return h.Call(t.Context(),
		&queue.Claimed{
			ID: id.New(), Org: org, Kind: h.Kind, Raw: raw, Attempt: 1, MaxAttempts: 1,
			CreatedAt: time.Now(),
		})
}

// A change or an event waits for a worker with billing. A tick does not, since another follows.
func TestWithoutBillingJobsWaitOrAreDoneAndSpendNoTry(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	handlers, said := bare(t, db, testkit.Box(t))
	org := id.New()
	for kind, args := range map[string]any{
		billingsettle.Kind.Name(): billingsettle.Args{Change: id.New()},
		stripeevent.Kind.Name():   stripeevent.Args{Event: "evt_1"},
	} {
		said.Reset()
		if _, waits := queue.SnoozeOf(call(t, handlers[kind], org, args)); !waits {
			t.Errorf("%s does not wait", kind)
		}
		if !strings.Contains(said.String(), "level=WARN") || !strings.Contains(said.String(), "part=billing") {
			t.Errorf("%s waits in silence: %s", kind, said)
		}
	}
	for kind, args := range map[string]any{
		billingoverage.Kind.Name():       billingoverage.Args{},
		billingprorationsync.Kind.Name(): billingprorationsync.Args{Whole: true},
	} {
		if err := call(t, handlers[kind], id.ID{}, args); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// Notifications by mail are skipped. A mail from another process is kept, and its job is dead with the reason.
func TestWithoutMailNobodyIsToldAndWhatWasWrittenIsKept(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	box := testkit.Box(t)
	handlers, said := bare(t, db, box)
	org := id.New()
	for kind, args := range map[string]any{
		accountnotify.Kind.Name(): accountnotify.Args{Grant: id.New()},
		accountwarn.Kind.Name():   accountwarn.Args{Grant: id.New()},
		webhooknotify.Kind.Name(): webhooknotify.Args{Endpoint: id.New()},
	} {
		said.Reset()
		if err := call(t, handlers[kind], org, args); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if !strings.Contains(said.String(), "part=mail") {
			t.Errorf("%s is skipped in silence: %s", kind, said)
		}
	}
	var written id.ID
	err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) (err error) {
		written, err = mail.Write(tx, box, mail.Verify("bob@example.com", "https://crm.test", "t"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	h := handlers[mailsystem.Kind.Name()]
	if err := call(t, h, org, mailsystem.Args{Mail: written}); !queue.IsDrop(err) ||
		!errors.Is(err, mailsystem.ErrOff) {
		t.Errorf("the job of a mail that cannot be sent: %v", err)
	}
	var bodies, sandboxed int
	if err := testkit.Pgx(t, db.URL).QueryRow(t.Context(),
		"SELECT (SELECT count(body) FROM system_mail), (SELECT count(*) FROM sandbox_mail)").
		Scan(&bodies, &sandboxed); err != nil {
		t.Fatal(err)
	}
	if bodies != 1 || sandboxed != 0 {
		t.Errorf("%d bodies are kept, %d are in the sandbox", bodies, sandboxed)
	}
	if err := call(t, h, org, mailsystem.Args{Mail: id.New()}); err != nil {
		t.Errorf("a job without a mail: %v", err)
	}
}
