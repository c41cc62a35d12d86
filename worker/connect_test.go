package worker_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/billing"
	"github.com/funnelwork/funnelwork/internal/billing/connect"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

// onboarding is the role of a process that begins a reseller's account and is killed in between: "onboarding WHERE".
const onboarding = "onboarding"

// dieOnboarding begins an account and is killed in between. It returns only if it was not.
func dieOnboarding(ctx context.Context, app, system *postgres.DB, org id.ID, role string) error {
	_, at, _ := strings.Cut(role, " ")
	kill := func() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	s, box := office(app, system, func(_ context.Context, point string) error {
		if point == at {
			kill()
		}
		return nil
	})
	if at == "acted" {
		box.Break(stripe.Fault{Kind: stripe.CutAfter, Method: http.MethodPost, Path: "/v1/accounts", Struck: kill})
	}
	l, err := connect.New(s).Onboard(ctx, org, "https://app.test/refresh", "https://app.test/return")
	return fmt.Errorf("lived on: %+v, %w", l, err)
}

// TestAKilledOnboardingLeavesOneAccount kills the process at each step: before Stripe is called, after Stripe has acted
// but before its response, before and within the commit, and after it. The next click or the sync, whichever is first,
// then finds the one account.
func TestAKilledOnboardingLeavesOneAccount(t *testing.T) {
	t.Parallel()
	h := open(t)
	s, _ := office(h.db.App, h.db.System, nil)
	later := connect.New(billing.New(func() billing.Options {
		o := s.Options
		// An intent counts as abandoned after a minute.
		o.Now = func() time.Time { return time.Now().Add(2 * time.Minute) }
		return o
	}()))
	for _, at := range []string{"intended", "acted", "made", "adopting", "adopted"} {
		for _, bySync := range []bool{true, false} {
			h.org = newOrg()
			h.exec("INSERT INTO org (id, name) VALUES ($1, 'Test')", h.org)
			err := h.process(onboarding + " " + at).Wait()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok ||
				exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("%s: the process was not killed: %v", at, err)
			}
			if bySync {
				if r, err := later.ReconcileAccounts(t.Context(), false); err != nil || r.Failed != 0 {
					t.Fatalf("%s: %+v, %v", at, r, err)
				}
			} else if _, err := connect.New(s).Onboard(t.Context(), h.org, "https://app.test/refresh",
				"https://app.test/return"); err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			made := h.count("SELECT count(*) FROM sandbox_stripe WHERE kind = 'account' AND 'metadata.org_id=' || "+
				"$1::text = ANY (marks)", h.org)
			ours := h.count("SELECT count(*) FROM connect_account c JOIN sandbox_stripe a ON a.kind = 'account' "+
				"AND a.id = c.stripe_id WHERE c.org_id = $1 AND c.state = 'onboarding'", h.org)
			told := h.count("SELECT count(*) FROM audit_log WHERE org_id = $1 AND action = "+
				"'connect.account_created'", h.org)
			type facts struct{ Stripe, Rows, Audited int }
			if diff := cmp.Diff(facts{1, 1, 1}, facts{made, ours, told}); diff != "" {
				t.Errorf("killed when %s, by sync %v: accounts (-want +got):\n%s", at, bySync, diff)
			}
		}
	}
}
