package worker_test

import (
	"context"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/jobs/accountwarn"
	"github.com/funnelwork/funnelwork/jobs/adaccountsdaily"
	"github.com/funnelwork/funnelwork/jobs/adaccountssync"
	"github.com/funnelwork/funnelwork/jobs/mailsystem"
	"github.com/funnelwork/funnelwork/worker"
)

// TestADaysLookRenamesAdAccountsAndTellsOnceOfALoginThatEnds runs the daily job twice, as after a kill: one sync per
// login at an ad platform, and one mail about a login that cannot be renewed.
func TestADaysLookRenamesAdAccountsAndTellsOnceOfALoginThatEnds(t *testing.T) {
	t.Parallel()
	h := logged(t, "facebook", "linkedin")
	ads, _ := h.login("meta_ads", "ads")
	ending, _ := h.login("linkedin", "ending")
	h.exec("UPDATE social_grant SET sealed_refresh = NULL, access_expires_at = now() + interval '5 days', "+
		"refresh_at = access_expires_at WHERE id = $1", ending)
	p, err := h.service.Providers.Get("meta_ads")
	if err != nil {
		t.Fatal(err)
	}
	token, err := h.refresher.Token(t.Context(), h.org, ads)
	if err != nil {
		t.Fatal(err)
	}
	_, accounts, err := p.Login(t.Context(), token)
	if err != nil || len(accounts) == 0 {
		t.Fatalf("%d accounts, %v", len(accounts), err)
	}
	h.exec("UPDATE social_account SET external_account_id = $2, display_name = 'as it was' WHERE grant_id = $1", ads,
		accounts[0].ExternalID)

	handlers := []queue.Handler{
		adaccountssync.Job{Refresher: h.refresher, Log: h.log}.Handler(),
		adaccountsdaily.Job{Refresher: h.refresher}.Handler(),
		accountwarn.Job{Box: h.box, Social: h.service}.Handler(),
		mailsystem.Kind.Handle(mailsystem.Job{DB: h.db.App, Box: h.box}.Work),
	}
	h.work(worker.Options{}, handlers...)
	looks := func() int { return h.count("SELECT count(*) FROM job WHERE kind = $1", adaccountssync.Kind.Name()) }
	for range 2 {
		h.addFor(id.ID{}, func(ctx context.Context, tx *postgres.Tx) error {
			return adaccountsdaily.Kind.Add(ctx, tx, adaccountsdaily.Args{})
		})
		h.until(giveUpAfter, "the day's job is over", func() bool {
			return h.count("SELECT count(*) FROM job WHERE kind = $1", adaccountsdaily.Kind.Name()) == 0
		})
		if n := looks(); n != 1 {
			t.Fatalf("%d looks at one login", n)
		}
	}
	h.exec("UPDATE job SET run_at = now() WHERE kind = $1", adaccountssync.Kind.Name()) // part of the six hours passes
	h.until(giveUpAfter, "all is done", func() bool { return h.count("SELECT count(*) FROM job") == 0 })
	if n := h.count(
		"SELECT count(*) FROM social_account WHERE grant_id = $1 AND display_name = $2 AND status = 'active'", ads,
		accounts[0].DisplayName); n != 1 {
		t.Errorf("the ad account is not called %q", accounts[0].DisplayName)
	}
	if n := h.count("SELECT count(*) FROM sandbox_mail WHERE org_id = $1", h.org); n != 1 {
		t.Errorf("%d mails of one login that ends", n)
	}
	if n := h.count("SELECT count(*) FROM social_grant WHERE id = $1 AND status = 'expiring' AND warned_days = 7",
		ending); n != 1 {
		t.Error("the login is not shown as one that ends")
	}
}
