package sequences_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/compose"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sequences"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/wire"
)

func TestAVersionIsFrozenWhenItIsActivated(t *testing.T) {
	t.Parallel()
	o := open(t)
	r, err := o.create(o.welcome())
	if err != nil {
		t.Fatal(err)
	}
	i := r.Value.ID
	if r.Value.Status != sequences.Draft || *r.Value.DraftVersion != 1 || r.Value.Version != nil {
		t.Errorf("created %+v", r.Value)
	}
	if r, _ = o.activate(i); r.Value.Status != sequences.Active || *r.Value.Version != 1 ||
		r.Value.DraftVersion != nil {
		t.Errorf("activated %+v", r.Value)
	}
	if _, changed := o.activate(i); changed {
		t.Error("an active sequence without a draft was activated")
	}
	before := o.load(i, 1)
	p := sequences.Patch{
		Steps:    wire.Some([]steps.Step{mail("first", "changed"), mail("third", "three")}),
		Schedule: wire.Some(sequences.SchedulePatch{Days: wire.Some([]string{"sat", "mon"})}),
	}
	if r, err = o.update(i, p); err != nil {
		t.Fatal(err)
	}
	if *r.Value.Version != 1 || *r.Value.DraftVersion != 2 || r.Value.Status != sequences.Active {
		t.Errorf("updated %+v", r.Value)
	}
	if diff := cmp.Diff([]string{"mon", "sat"}, r.Value.Schedule.Days); diff != "" {
		t.Errorf("days (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, o.load(i, 1)); diff != "" {
		t.Errorf("the active version changed (-was +is):\n%s", diff)
	}
	if r, err = o.update(i, sequences.Patch{Exclusive: wire.Some(false)}); err != nil || *r.Value.DraftVersion != 2 {
		t.Errorf("updated again: %+v, %v", r.Value, err)
	}
	if got := o.load(i, 2); got.Exclusive || len(got.Steps) != 2 || got.Steps[0].Email.Text != "changed" {
		t.Errorf("draft %+v", got)
	}
	edit := r.Edit
	if r, err = o.update(i, sequences.Patch{Exclusive: wire.Some(false)}); err != nil || r.Edit != edit {
		t.Errorf("a patch without effect made edit %d of %d: %v", r.Edit, edit, err)
	}
	if r, err = o.update(i, sequences.Patch{Name: wire.Some("Hello")}); err != nil || r.Value.Name != "Hello" {
		t.Errorf("renamed: %+v, %v", r.Value, err)
	}
	if r, _ = o.activate(i); *r.Value.Version != 2 || r.Value.DraftVersion != nil {
		t.Errorf("activated again %+v", r.Value)
	}
	if got := o.load(i, 1); got.Name != "Hello" || len(got.Steps) != 3 {
		t.Errorf("version 1 is %+v", got)
	}
	if err := o.tx(func(tx *postgres.Tx) error {
		list, err := sequences.Versions(t.Context(), tx, i, 0, 10)
		if len(list) != 2 || list[0].Status != "active" || list[1].Status != "retired" {
			t.Errorf("versions %+v", list)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestAKeyStaysWithItsKindOfStep(t *testing.T) {
	t.Parallel()
	o := open(t)
	r, err := o.create(o.welcome())
	if err != nil {
		t.Fatal(err)
	}
	swapped := sequences.Patch{Steps: wire.Some([]steps.Step{wait("first", 1)})}
	if _, err := o.update(r.Value.ID, swapped); err != nil {
		t.Errorf("a sequence that was never active: %v", err)
	}
	o.activate(r.Value.ID)
	_, err = o.update(r.Value.ID, sequences.Patch{Steps: wire.Some([]steps.Step{mail("x", "x"), mail("first", "x")})})
	if got, _ := problems(err); cmp.Diff([]string{"#/steps/1/key key_in_use"}, got) != "" {
		t.Errorf("got %v", got)
	}
}

func TestWhatASequenceNamesMustExist(t *testing.T) {
	t.Parallel()
	o := open(t)
	condition := func(filter map[string]any) steps.Step {
		return steps.Step{Key: "c", Kind: steps.KindCondition, Condition: &steps.Condition{Filter: filter}}
	}
	stranger := id.New()
	for name, c := range map[string]struct {
		change func(p *sequences.Patch)
		want   string
		code   fault.Code
	}{
		"mailbox": {func(p *sequences.Patch) {
			p.MailboxIDs = wire.Some([]string{o.mailbox.String(), stranger.String()})
		}, "#/mailbox_ids/1 unknown_mailbox", fault.ValidationFailed},
		"endpoint": {func(p *sequences.Patch) {
			w := steps.Step{Key: "w", Kind: "webhook", Webhook: &steps.Webhook{EndpointID: stranger}}
			p.Steps = wire.Some([]steps.Step{w})
		}, "#/steps/0/webhook/endpoint_id unknown_endpoint", fault.ValidationFailed},
		"field": {func(p *sequences.Patch) {
			p.Goal = wire.Some(map[string]any{"field": "nope", "op": "eq", "value": 1})
		}, "#/goal/field unknown_field", fault.ValidationFailed},
		"fact in a goal": {func(p *sequences.Patch) {
			p.Goal = wire.Some(map[string]any{"field": "replied", "op": "eq", "value": true})
		}, "#/goal/field unknown_field", fault.ValidationFailed},
		"fact in a condition": {func(p *sequences.Patch) {
			p.Steps = wire.Some([]steps.Step{condition(map[string]any{"field": "replied", "op": "eq", "value": true})})
		}, "", ""},
		"open": {func(p *sequences.Patch) {
			p.Steps = wire.Some([]steps.Step{condition(map[string]any{"field": "opened", "op": "eq", "value": true})})
		}, "#/steps/0/condition/filter/field open_not_a_condition", fault.OpenNotACondition},
		"target": {func(p *sequences.Patch) {
			c := condition(map[string]any{"field": "clicked", "op": "eq", "value": true})
			c.Condition.Then = "x"
			p.Steps = wire.Some([]steps.Step{c})
		}, "#/steps/0/condition/then step_unknown", fault.StepUnknown},
		"window": {func(p *sequences.Patch) {
			p.Schedule = wire.Some(sequences.SchedulePatch{From: wire.Some("18:00"), To: wire.Some("9:00")})
		}, "#/schedule/to invalid_time", fault.ValidationFailed},
		"zone": {func(p *sequences.Patch) {
			p.Schedule = wire.Some(sequences.SchedulePatch{TimeZone: wire.Some("Mars/Base"), To: wire.Some("24:00")})
		}, "#/schedule/time_zone invalid_time_zone", fault.ValidationFailed},
	} {
		p := o.welcome()
		c.change(&p)
		_, err := o.create(p)
		got, code := problems(err)
		if c.code == "" && err != nil || strings.Join(got, ", ") != c.want || code != c.code {
			t.Errorf("%s: %v %s, want %s; %v", name, got, code, c.want, err)
		}
	}
}

func TestAnActivationNamesAllThatIsMissing(t *testing.T) {
	t.Parallel()
	o := open(t)
	p := o.welcome()
	unverified, held := id.New(), id.New()
	for i, status := range map[id.ID]string{unverified: "active", held: "held"} {
		o.exec(`INSERT INTO mailbox (org_id, id, name, kind, from_email, from_folded, from_domain, status, spf,
			created_at, updated_at) VALUES ($1, $2, 'Box', 'smtp', $4, $4, 'shop.example', $3, 'pass', now(), now())`,
			o.org, i, status, i.String()+"@shop.example")
	}
	p.MailboxIDs = wire.Some([]string{o.mailbox.String(), unverified.String(), held.String()})
	r, err := o.create(p)
	if err != nil {
		t.Fatal(err)
	}
	check := func(g *sequences.Gates) (list []string) {
		err := o.tx(func(tx *postgres.Tx) error { return g.Check(t.Context(), tx, &r.Value) })
		list, code := problems(err)
		if err != nil && code != fault.ValidationFailed {
			t.Error(err)
		}
		return list
	}
	lint := func(source compose.Source) ([]compose.Finding, error) {
		if source.Text == "two" {
			return nil, nil
		}
		return []compose.Finding{
			{Code: "unknown_field", Pointer: "/text"},
			{Code: "unsubscribe_missing", Pointer: "/text"},
			{Code: "too_large", Pointer: "/text"},
		}, nil
	}
	if diff := cmp.Diff([]string{
		"#/postal_address postal_address_required", "#/mailbox_ids/1 sender_unverified",
		"#/mailbox_ids/2 mailbox_not_active",
		"#/steps/0/email/text merge_unknown", "#/steps/0/email/text unsubscribe_missing",
	}, check(&sequences.Gates{Lint: lint})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	clean := func(compose.Source) ([]compose.Finding, error) { return nil, nil }
	r.Value.MailboxIDs = r.Value.MailboxIDs[:2]
	o.exec(`UPDATE mailbox SET dmarc = 'pass' WHERE id = $1`, unverified)
	if got := check(&sequences.Gates{PostalAddress: "Street 1", Lint: clean}); got != nil {
		t.Errorf("got %v", got)
	}
	r.Value.MailboxIDs, r.Value.Steps = nil, nil
	if diff := cmp.Diff([]string{"#/steps steps_required", "#/mailbox_ids mailbox_not_active"},
		check(&sequences.Gates{PostalAddress: "Street 1", Lint: clean})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAStatusChangesOnlyAsItMay(t *testing.T) {
	t.Parallel()
	o := open(t)
	r, err := o.create(o.welcome())
	if err != nil {
		t.Fatal(err)
	}
	i := r.Value.ID
	act := map[string]func(tx *postgres.Tx) (sequences.Row, bool, error){
		"pause": func(tx *postgres.Tx) (sequences.Row, bool, error) { return sequences.Pause(t.Context(), tx, i) },
		"resume": func(tx *postgres.Tx) (sequences.Row, bool, error) {
			return sequences.Resume(t.Context(), tx, i)
		},
		"archive": func(tx *postgres.Tx) (sequences.Row, bool, error) {
			return sequences.Archive(t.Context(), tx, i)
		},
		"activate": func(tx *postgres.Tx) (sequences.Row, bool, error) {
			return sequences.Activate(t.Context(), tx, i, nil, func(*sequences.Sequence) error { return nil })
		},
	}
	for _, c := range []struct {
		do, status string
		changed    bool
		code       fault.Code
	}{
		{"pause", "", false, fault.SequenceNotActive},
		{"resume", "", false, fault.SequenceNotActive},
		{"activate", sequences.Active, true, ""},
		{"resume", sequences.Active, false, ""},
		{"pause", sequences.Paused, true, ""},
		{"pause", sequences.Paused, false, ""},
		{"activate", sequences.Active, true, ""},
		{"pause", sequences.Paused, true, ""},
		{"resume", sequences.Active, true, ""},
		{"archive", sequences.Archived, true, ""},
		{"archive", sequences.Archived, false, ""},
		{"pause", "", false, fault.SequenceNotActive},
		{"activate", "", false, fault.SequenceNotActive},
	} {
		var changed bool
		err := o.tx(func(tx *postgres.Tx) (err error) {
			r, changed, err = act[c.do](tx)
			return err
		})
		_, code := problems(err)
		if code != c.code || changed != c.changed || err == nil && r.Value.Status != c.status {
			t.Errorf("%s: %s %v %v, want %+v", c.do, r.Value.Status, changed, err, c)
		}
	}
	if _, err := o.update(i, sequences.Patch{Name: wire.Some("x")}); !fault.Is(err, fault.SequenceNotActive) {
		t.Errorf("an archived sequence was changed: %v", err)
	}
}

func TestACopyHasADraftOfItsOwn(t *testing.T) {
	t.Parallel()
	o := open(t)
	p := o.welcome()
	p.Name = wire.Some(strings.Repeat("ä", 200))
	r, err := o.create(p)
	if err != nil {
		t.Fatal(err)
	}
	r, _ = o.activate(r.Value.ID)
	var copied sequences.Row
	if err := o.tx(func(tx *postgres.Tx) (err error) {
		copied, err = sequences.Duplicate(t.Context(), tx, r.Value.ID, "")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(copied.Value.Name, "ä (copy)") || *copied.Value.DraftVersion != 1 ||
		copied.Value.Version != nil {
		t.Errorf("copied %+v", copied.Value)
	}
	same := cmpopts.IgnoreFields(sequences.Version{}, "Sequence", "Name", "Frozen")
	if diff := cmp.Diff(o.load(r.Value.ID, 1), o.load(copied.Value.ID, 1), same); diff != "" {
		t.Errorf("(-of +copy):\n%s", diff)
	}
}

// TestChangesAtTheSameTimeMakeOneDraft races changes of an active sequence. Each is in the one draft that results.
func TestChangesAtTheSameTimeMakeOneDraft(t *testing.T) {
	t.Parallel()
	o := open(t)
	r, err := o.create(o.welcome())
	if err != nil {
		t.Fatal(err)
	}
	i := r.Value.ID
	o.activate(i)
	changes := []sequences.Patch{
		{Exclusive: wire.Some(false)},
		{AllowReenroll: wire.Some(true)},
		{LateAfterHours: wire.Some(48)},
		{MaxNewPerDay: wire.Some(7)},
		{Schedule: wire.Some(sequences.SchedulePatch{From: wire.Some("08:30")})},
		{Steps: wire.Some([]steps.Step{mail("first", "new")})},
	}
	var all sync.WaitGroup
	failed := make([]error, len(changes))
	for n := range changes {
		all.Go(func() { _, failed[n] = o.update(i, changes[n]) })
	}
	all.Wait()
	for n, err := range failed {
		if err != nil {
			t.Errorf("change %d: %v", n, err)
		}
	}
	v := o.load(i, 2)
	got := fmt.Sprintln(v.Exclusive, v.AllowReenroll, v.LateAfterHours, *v.MaxNewPerDay, v.Schedule.From, len(v.Steps))
	if want := "false true 48 7 08:30 1\n"; got != want {
		t.Errorf("draft has %s, want %s", got, want)
	}
	if from := v.Schedule.Windows().From; from != schedule.Clock(8*60+30) {
		t.Errorf("the window opens at %s", from)
	}
}

func TestNoListOfSequencesScansOrSortsAWholeOrg(t *testing.T) {
	t.Parallel()
	o := open(t)
	for n, org := range []id.ID{o.org, id.New(), id.New()} {
		o.exec(`INSERT INTO sequence (org_id, id, name, name_folded, status, draft, latest, created_at, updated_at,
				archived_at)
			SELECT $1, uuidv7_at(at), 'S' || g % 100, 's' || g % 100, 'draft', 1, 1, at, at,
				CASE WHEN g % 10 = 9 THEN at END
			FROM (SELECT g, now() - g * interval '1 minute' AS at FROM generate_series(1, $2::int) g) AS made`,
			org, []int{6000, 300, 300}[n])
	}
	o.exec(`ANALYZE sequence`)
	for _, deleted := range []bool{false, true} {
		for order, key := range map[string]string{
			"-created_at": "2026-01-01T00:00:00Z", "created_at": "2026-01-01T00:00:00Z", "name": "s5",
		} {
			for _, from := range []bool{false, true} {
				sql, args := sequences.Statement(o.org, sequences.Filter{Deleted: deleted}, order, key, from, 51)
				if bad := o.Troubles(t, o.org, sequences.Planning, sql, args...); len(bad) > 0 {
					t.Errorf("deleted %v by %s (from the middle: %v): %s", deleted, order, from,
						strings.Join(bad, ", "))
				}
			}
		}
	}
}
