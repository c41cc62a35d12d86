package mailboxes_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/wire"
)

func TestAMailboxIsRefusedWhatItCannotSendWith(t *testing.T) {
	t.Parallel()
	o := open(t)
	server := func(host string, port int, tls string) func(*mailboxes.Patch) {
		return func(all *mailboxes.Patch) {
			p := mailboxes.ServerPatch{Host: wire.Some(host)}
			p.Port, p.TLS = wire.Field[int]{Set: port != 0, Value: port}, wire.Field[string]{Set: tls != "", Value: tls}
			all.SMTP = wire.Some(p)
		}
	}
	for name, c := range map[string]struct {
		change func(*mailboxes.Patch)
		want   string
	}{
		"no server":    {func(p *mailboxes.Patch) { p.SMTP.Set = false }, "#/smtp required"},
		"private host": {server("10.0.0.1", 0, ""), "#/smtp/host host_not_allowed"},
		"loopback":     {server("localhost", 0, ""), "#/smtp/host host_not_allowed"},
		"another port": {server("a.example", 6379, ""), "#/smtp/port port_not_allowed"},
		"no TLS":       {server("a.example", 0, "none"), "#/smtp/tls not_allowed"},
		"port 70000":   {server("a.example", 70000, ""), "#/smtp/port out_of_range"},
		"no address": {
			func(p *mailboxes.Patch) { p.FromEmail = wire.Some("a b@c.example") }, "#/from_email invalid_email",
		},
		"a header": {
			func(p *mailboxes.Patch) { p.FromName = wire.Some("a\r\nBcc: x@y.example") },
			"#/from_name invalid_characters",
		},
		"no cap, no rate": {func(p *mailboxes.Patch) { p.DailyCap = none[int]() }, "#/daily_cap required"},
		"cap of nothing":  {func(p *mailboxes.Patch) { p.DailyCap = wire.Some(0) }, "#/daily_cap out_of_range"},
		"rate of nothing": {
			func(p *mailboxes.Patch) { p.RatePerSecond = wire.Some(0) }, "#/rate_per_second out_of_range",
		},
		"gap turned round": {func(p *mailboxes.Patch) {
			p.Gap = wire.Some(mailboxes.GapPatch{Min: wire.Some(9), Max: wire.Some(3)})
		}, "#/gap_seconds/max out_of_range"},
		"ramp without start": {
			func(p *mailboxes.Patch) { p.Ramp = wire.Some(mailboxes.RampPatch{Step: wire.Some(3)}) },
			"#/ramp/start required",
		},
		"zone": {
			func(p *mailboxes.Patch) { p.TimeZone = wire.Some("Mars/Olympus") }, "#/time_zone invalid_time_zone",
		},
		"account": {
			func(p *mailboxes.Patch) { p.SocialAccountID = wire.Some(id.New().String()) },
			"#/social_account_id not_allowed",
		},
		"google without one": {func(p *mailboxes.Patch) {
			p.Kind, p.SMTP.Set = wire.Some(mailboxes.Google), false
		}, "#/social_account_id required"},
		"google with a server": {func(p *mailboxes.Patch) {
			p.Kind, p.SocialAccountID = wire.Some(mailboxes.Google), wire.Some(id.New().String())
		}, "#/smtp not_allowed"},
	} {
		if _, err := o.create(c.change); codes(err) != c.want {
			t.Errorf("%s: %s, want %s", name, codes(err), c.want)
		}
	}
	if _, err := o.create(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := o.create(nil); codes(err) != "mailbox_exists" {
		t.Errorf("the same address again: %v", err)
	}
}

func TestAChangeOfTheConnectionNeedsANewTest(t *testing.T) {
	t.Parallel()
	o := open(t)
	server := func(change func(*mailboxes.ServerPatch)) mailboxes.Patch {
		var p mailboxes.ServerPatch
		change(&p)
		return mailboxes.Patch{SMTP: wire.Some(p)}
	}
	for name, c := range map[string]struct {
		change  mailboxes.Patch
		want    string // status
		changed bool
	}{
		"nothing":   {mailboxes.Patch{}, "active", false},
		"the same":  {mailboxes.Patch{Name: wire.Some("Ada@Shop.example")}, "active", false},
		"name":      {mailboxes.Patch{Name: wire.Some("Sales")}, "active", true},
		"cap":       {mailboxes.Patch{DailyCap: wire.Some(9)}, "active", true},
		"from_name": {mailboxes.Patch{FromName: wire.Some("Ada")}, "active", true},
		"password": {
			server(func(p *mailboxes.ServerPatch) { p.Password = wire.Some(secret.Text("x")) }), "unverified", true,
		},
		"username": {
			server(func(p *mailboxes.ServerPatch) { p.Username = wire.Some("eve") }), "unverified", true,
		},
		"port":         {server(func(p *mailboxes.ServerPatch) { p.Port = wire.Some(2525) }), "unverified", true},
		"address":      {mailboxes.Patch{FromEmail: wire.Some("eve@shop.example")}, "unverified", true},
		"its spelling": {mailboxes.Patch{FromEmail: wire.Some("ada@shop.example")}, "active", true},
	} {
		box := o.active(nil)
		o.exec(`UPDATE mailbox SET sent_proof = true, spf = 'pass' WHERE id = $1`, box)
		v, changed, err := o.update(box, c.change)
		if err != nil || v.Status != c.want || changed != c.changed || v.SentProof != (c.want == "active") ||
			v.Domain.SPF != "pass" || (v.Edit == 2) != c.changed {
			t.Errorf("%s: %s, changed %t, %+v, %v", name, v.Status, changed, v.Mailbox, err)
		}
		o.exec(`UPDATE mailbox SET archived_at = now() WHERE id = $1`, box)
	}
}

func TestAnotherDomainHasToBeLookedUpAgain(t *testing.T) {
	t.Parallel()
	o := open(t)
	box := o.active(nil)
	o.exec(`UPDATE mailbox SET spf = 'pass', dkim = 'pass', dmarc = 'pass', domain_checked_at = now()`)
	v, _, err := o.update(box, mailboxes.Patch{FromEmail: wire.Some("ada@other.example")})
	if d := v.Domain; err != nil || d.SPF+d.DKIM+d.DMARC != "unknownunknownunknown" || d.CheckedAt != nil {
		t.Errorf("%+v, %v", v.Domain, err)
	}
}

func TestAPasswordIsNotSentToAnotherServer(t *testing.T) {
	t.Parallel()
	o := open(t)
	box := o.active(nil)
	elsewhere := mailboxes.ServerPatch{Host: wire.Some("smtp.evil.example")}
	_, _, err := o.update(box, mailboxes.Patch{SMTP: wire.Some(elsewhere)})
	if codes(err) != "#/smtp/password required" {
		t.Errorf("another host with the old password: %v", err)
	}
	elsewhere.Password = wire.Some(secret.Text("other"))
	if _, _, err := o.update(box, mailboxes.Patch{SMTP: wire.Some(elsewhere)}); err != nil {
		t.Errorf("another host with its password: %v", err)
	}
	_, _, err = o.update(box, mailboxes.Patch{Kind: wire.Some(mailboxes.Sandbox)})
	if codes(err) != "#/kind read_only" {
		t.Errorf("another kind: %v", err)
	}
}

func TestAPasswordIsSealedForItsMailbox(t *testing.T) {
	t.Parallel()
	o := open(t)
	first := o.active(nil)
	second := o.active(func(p *mailboxes.Patch) { p.FromEmail = wire.Some("eve@shop.example") })
	password := func(box id.ID) (got secret.Text, err error) {
		return got, o.tx(func(tx *postgres.Tx) error {
			m, err := o.boxes.ForSending(t.Context(), tx, box)
			if err == nil {
				got = m.Password
			}
			return err
		})
	}
	if got, err := password(first); err != nil || got.Reveal() != "hunter2" {
		t.Errorf("%q, %v", got.Reveal(), err)
	}
	var plain bool
	if o.scan(`SELECT position('hunter2'::bytea in smtp_password) > 0 FROM mailbox LIMIT 1`, &plain); plain {
		t.Error("the password is stored in plain text")
	}
	o.exec(`UPDATE mailbox SET smtp_password = (SELECT smtp_password FROM mailbox WHERE id = $1) WHERE id = $2`, first,
		second)
	if got, err := password(second); err == nil {
		t.Errorf("the password of another mailbox is %q here", got.Reveal())
	}
	if _, _, err := o.update(first, mailboxes.Patch{SMTP: wire.Some(mailboxes.ServerPatch{
		Password: none[secret.Text](),
	})}); err != nil {
		t.Fatal(err)
	}
	if got, err := password(first); err != nil || got != "" {
		t.Errorf("after its removal: %q, %v", got.Reveal(), err)
	}
}

func TestHoldAndResumeFollowTheStates(t *testing.T) {
	t.Parallel()
	o := open(t)
	box := o.active(nil)
	for name, c := range map[string]struct {
		sql          string
		hold, resume string // status afterwards, or the fault
	}{
		"active":         {`status = 'active'`, "held held_by_user", "active "},
		"held":           {`status = 'held', held_until = '2100-01-01Z'`, "held held_by_user", "active "},
		"unverified":     {`status = 'unverified'`, "mailbox_not_active", "mailbox_not_active"},
		"disabled":       {`status = 'disabled', status_reason = 'bounce_rate'`, "mailbox_not_active", "active "},
		"never verified": {`status = 'disabled', verified_at = NULL`, "mailbox_not_active", "unverified "},
	} {
		act := func(act func(tx *postgres.Tx) (mailboxes.Versioned, error)) string {
			o.exec(`UPDATE mailbox SET status_reason = '', held_until = NULL, verified_at = now(), auth_refusals = 4`)
			o.exec(`UPDATE mailbox SET ` + c.sql)
			var v mailboxes.Versioned
			if err := o.tx(func(tx *postgres.Tx) (err error) {
				v, err = act(tx)
				return err
			}); err != nil {
				return codes(err)
			}
			if got := o.get(box); got.Status != v.Status || v.HeldUntil != nil {
				t.Errorf("%s: returned %s, stored %s until %v", name, v.Status, got.Status, v.HeldUntil)
			}
			reason := ""
			if v.StatusReason != nil {
				reason = *v.StatusReason
			}
			return v.Status + " " + reason
		}
		got := act(func(tx *postgres.Tx) (mailboxes.Versioned, error) {
			return o.boxes.Hold(t.Context(), tx, box, nil)
		})
		if got != c.hold {
			t.Errorf("%s, hold: %s, want %s", name, got, c.hold)
		}
		got = act(func(tx *postgres.Tx) (mailboxes.Versioned, error) { return o.boxes.Resume(t.Context(), tx, box) })
		if got != c.resume {
			t.Errorf("%s, resume: %s, want %s", name, got, c.resume)
		}
	}
}

func TestTheOwnerOfAMailboxIsAMemberOfTheOrg(t *testing.T) {
	t.Parallel()
	o := open(t)
	member, former, stranger := id.New(), id.New(), id.New()
	other := id.New()
	o.exec(`INSERT INTO org (id, name) VALUES ($1, 'Other')`, other)
	for user, at := range map[id.ID]id.ID{member: o.org, former: o.org, stranger: other} {
		o.exec(`INSERT INTO app_user (id, email, email_folded) VALUES ($1, $2, $2)`, user, user.String()+"@x.example")
		o.exec(`INSERT INTO member (org_id, user_id, role) VALUES ($1, $2, 'member')`, at, user)
	}
	o.exec(`UPDATE member SET removed_at = now() WHERE user_id = $1`, former)
	for user, want := range map[id.ID]string{
		member: "", former: "#/owner_id not_found", stranger: "#/owner_id not_found", id.New(): "#/owner_id not_found",
	} {
		v, err := o.create(func(p *mailboxes.Patch) {
			p.OwnerID, p.FromEmail = wire.Some(user.String()), wire.Some(user.String()+"@shop.example")
		})
		if codes(err) != want || err == nil && *v.OwnerID != user {
			t.Errorf("created for %s: %v, want %q", user, err, want)
		}
	}
	box := o.active(nil)
	if _, _, err := o.update(box, mailboxes.Patch{OwnerID: wire.Some(stranger.String())}); codes(err) == "" {
		t.Error("a mailbox was given to a stranger")
	}
	if _, changed, err := o.update(box, mailboxes.Patch{OwnerID: wire.Some(member.String())}); err != nil || !changed {
		t.Errorf("given to a member: %v", err)
	}
	o.exec(`UPDATE member SET removed_at = now()`)
	if _, _, err := o.update(box, mailboxes.Patch{Name: wire.Some("x")}); err != nil {
		t.Errorf("a mailbox of a former member cannot be renamed: %v", err)
	}
}
