package demo_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/postgres"
)

// withSandbox gives the org the mailbox that up creates.
func (p *place) withSandbox() {
	p.Helper()
	seed := func(tx *postgres.Tx) error { return p.Mailboxes.SeedSandbox(p.Context(), tx) }
	if err := p.App.Tx(p.Context(), p.Org, seed); err != nil {
		p.Fatal(err)
	}
}

func TestAnOrgWithASandboxMailboxGetsOutreach(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.withSandbox()
	p.fill(t.Context())
	for what, want := range map[string]int{
		`SELECT count(*) FROM mailbox WHERE org_id = $1 AND status = 'active'`:                                2,
		`SELECT count(*) FROM sequence WHERE org_id = $1 AND status = 'active'`:                               1,
		`SELECT count(*) FROM sequence WHERE org_id = $1 AND status = 'draft'`:                                1,
		`SELECT count(*) FROM enrolment WHERE org_id = $1`:                                                    46,
		`SELECT count(*) FROM broadcast WHERE org_id = $1 AND status = 'preparing'`:                           1,
		`SELECT count(*) FROM broadcast WHERE org_id = $1 AND status = 'scheduled'`:                           1,
		`SELECT count(*) FROM broadcast WHERE org_id = $1 AND status = 'draft'`:                               1,
		`SELECT count(*) FROM template WHERE org_id = $1`:                                                     1,
		`SELECT count(*) FROM contact WHERE org_id = $1 AND email LIKE 'reply@%'`:                             3,
		`SELECT count(*) FROM contact WHERE org_id = $1 AND email !~ '@([a-z0-9-]+[.])*example[.](com|org)$'`: 0,
	} {
		if got := p.count(what); got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
}

// Without a sandbox mailbox mails would leave the machine, so there is nothing that sends.
func TestAnOrgWithoutASandboxMailboxGetsNoOutreach(t *testing.T) {
	t.Parallel()
	p := open(t)
	p.fill(t.Context())
	n := p.count(`SELECT (SELECT count(*) FROM mailbox WHERE org_id = $1) +
		(SELECT count(*) FROM sequence WHERE org_id = $1) + (SELECT count(*) FROM broadcast WHERE org_id = $1)`)
	if n != 0 {
		t.Errorf("the org has %d mailboxes, sequences and broadcasts", n)
	}
}
