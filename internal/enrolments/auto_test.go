package enrolments_test

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/sequences/steps"
)

func TestAStoppedVariantIsSentToNobodyWhereTheStepAsksForIt(t *testing.T) {
	t.Parallel()
	o := open(t)
	people := o.people(60)
	tested := func(auto bool) steps.Step {
		s := mail("first", 0)
		s.Email.Variants, s.Email.Auto = []steps.Variant{{Key: "a"}, {Key: "b"}, {Key: "c"}}, auto
		return s
	}
	auto, plain := o.sequence(notExclusive, tested(true)), o.sequence(notExclusive, tested(false))
	o.put(auto, people[:30]...)
	o.tick()
	if got := o.one(`SELECT count(DISTINCT variant) FROM email`); got != "3" {
		t.Fatalf("%s variants of 3 before one is stopped", got)
	}
	o.exec(`INSERT INTO variant_comparison (org_id, sequence_id, step, stopped)
		SELECT $1, id, 'first', '{"a": "2026-01-02T03:04:05Z", "c": "2026-01-02T03:04:05Z"}' FROM sequence`, o.org)
	o.exec(`DELETE FROM email`)
	o.put(auto, people[30:]...)
	o.put(plain, people...)
	o.tick()
	const variants = `SELECT string_agg(DISTINCT e.variant, '') || count(*) FROM email e
		JOIN enrolment n ON n.id = e.enrolment_id WHERE n.sequence_id = $1`
	if got := o.one(variants, auto); got != "b30" {
		t.Errorf("with auto: %s, want b30", got)
	}
	if got := o.one(variants, plain); got != "abc60" {
		t.Errorf("without auto: %s, want abc60", got)
	}
}
