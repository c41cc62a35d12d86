package overviewcount_test

import "testing"

func TestAnOrgWithoutNewsIsLookedAtLessAndLessOften(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, c := range []struct{ state, next string }{
		{
			`counted_at = now() - interval '10 minutes'`,
			`look_at BETWEEN now() + interval '5 minutes' AND now() + interval '16 minutes'`,
		},
		{
			`counted_at = now()`,
			`look_at <= now() + interval '1 minute' AND look_at >= counted_at + interval '1 minute'`,
		},
		{
			`counted_at = now() - interval '40 days'`,
			`look_at BETWEEN now() + interval '23 hours' AND now() + interval '1 day 5 minutes'`,
		},
		{
			`counted_at = '-infinity'`,
			`look_at BETWEEN now() + interval '23 hours' AND now() + interval '1 day 5 minutes'`,
		},
		{
			`counted_at = now() - interval '40 days', read_at = now() - interval '2 hours'`,
			`look_at BETWEEN now() + interval '1 hour' AND now() + interval '3 hours'`,
		},
		{
			`counted_at = now() - interval '40 days', read_at = now()`,
			`look_at <= now() + interval '2 seconds'`,
		},
	} {
		s.exec(`UPDATE overview_state SET read_at = '-infinity', whole_at = now() WHERE org_id = $1`)
		s.exec(`UPDATE overview_state SET ` + c.state + ` WHERE org_id = $1`)
		if s.due() {
			t.Errorf("%s: an org without news is due", c.state)
		}
		if !s.is(c.next) {
			t.Errorf("%s: the next look is not %s", c.state, c.next)
		}
	}
}

func TestAllDaysAreCountedAgainOnlyAfterSomethingHasHappened(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.exec(`UPDATE overview_state SET counted_at = now() - interval '2 days', whole_at = now() - interval '2 days'
		WHERE org_id = $1`)
	if s.due() {
		t.Error("an org is due without an event or a delivery since the last count of all days")
	}
	s.exec(`UPDATE overview_state SET counted_at = now() - interval '1 hour' WHERE org_id = $1`)
	if !s.due() {
		t.Error("an org is not due a day after the last count of all days, although others followed")
	}
	s.exec(`UPDATE overview_state SET counted_at = whole_at WHERE org_id = $1`)
	s.exec(`INSERT INTO webhook_delivery (org_id, id, endpoint_id, event_id, event_type, trigger, created_at,
			updated_at)
		VALUES ($1, uuidv7_at(now()), gen_random_uuid(), gen_random_uuid(), 'contact.created', 'replay', now(), now())`)
	if !s.due() {
		t.Error("an org with deliveries of a replay is not due")
	}
}

func TestAReadMakesTheNextLookImmediate(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.tx(s.created(1))
	s.settled()
	if s.found() {
		t.Fatal("a new org is looked at before its time")
	}
	s.refresh()
	if n := s.total(); n != 1 {
		t.Errorf("the first reader sees %d contacts, want 1", n)
	}
	s.exec(`UPDATE overview_state SET read_at = now() - interval '2 minutes', look_at = now() + interval '1 day'
		WHERE org_id = $1`)
	s.tx(s.created(2))
	s.settled()
	s.refresh()
	if !s.found() {
		t.Error("an overview that is read is not looked at")
	}
}
